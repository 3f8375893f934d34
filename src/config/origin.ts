// Where a setting came from, and what is wrong with it. Every value and every problem carries its origin.

import type { ErrorCode } from '../core/errors.js'
import type { Problem } from '../core/units/problem.js'

export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file' | 'drop-in'; readonly path: string; readonly line: number }
  | { readonly from: 'flag'; readonly flag: string }
  | { readonly from: 'runtime'; readonly detail: string }

export const defaultOrigin: Origin = { from: 'default' }

/** `/var/lib/kubelet/config.yaml:12`, `drop-in 10-a.conf:3`, `flag --cgroup-driver`, `default`. */
export function formatOrigin(origin: Origin): string {
  switch (origin.from) {
    case 'default':
      return 'default'
    case 'file':
      return `${origin.path}:${origin.line}`
    case 'drop-in':
      return `drop-in ${origin.path}:${origin.line}`
    case 'flag':
      return `flag ${origin.flag}`
    case 'runtime':
      return `runtime (${origin.detail})`
  }
}

export type FieldPath = readonly string[]

/** `authentication.x509.clientCAFile`, `evictionHard["memory.available"]`. */
export const formatPath = (path: FieldPath): string =>
  path
    .map((part, i) =>
      /^[A-Za-z_][A-Za-z0-9_-]*$/.test(part)
        ? `${i === 0 ? '' : '.'}${part}`
        : `[${JSON.stringify(part.slice(0, 80))}]`,
    )
    .join('')

/** A reason not to start. */
export interface ConfigProblem extends Problem {
  readonly code: ErrorCode
  readonly origin: Origin
}

export type WarningId =
  | 'unknown-key'
  | 'without-effect'
  /** Asks for something that does not happen here; a strict start refuses it. */
  | 'not-honoured'
  | 'feature-gate'
  | 'flag-deprecated'
  | 'flag-ignored-after-removal'
  | 'deprecated-value'
  | 'suspicious-value'

/** Something that a person should know; the start goes on. */
export interface ConfigWarning extends Problem {
  readonly id: WarningId
  readonly origin: Origin
}

export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: ConfigWarning[]
}

export const noFindings = (): Findings => ({ problems: [], warnings: [] })

/** `evictionHard: expected ...; remedy (drop-in 10-a.conf:3)`. Messages that begin with the path keep their own. */
export function formatFinding({ path, message, remedy, origin }: ConfigProblem | ConfigWarning): string {
  const where = path === '' || message.startsWith(path) ? '' : `${path}: `
  const then = remedy === '' ? '' : `; ${remedy}`
  return `${where}${message}${then}${origin.from === 'default' ? '' : ` (${formatOrigin(origin)})`}`
}
