// Which cgroup driver a runtime uses that does not say so itself (KEP-4033): from the operator's setting, the runtime's own
// configuration and the cgroups of running sandboxes. Two sources that disagree give no answer: never a guess.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { classifyCgroupPath, type HandlerSetting } from '../../core/driver/evidence.js'
import type { SandboxCgroup } from '../../core/driver/proof.js'

/** What the runtime's configuration says. */
export interface StatedSettings {
  /** `Status of containerd`, `/etc/crio/crio.conf` */
  readonly from: string
  readonly handlers: readonly HandlerSetting[]
  /** Files can change after the runtime has read them; its own answer cannot. */
  readonly isAsLoaded: boolean
}

/** Of a runtime that has RuntimeConfig; `unusable`: it answers, but names no driver that we know. */
export type OwnAnswer = CgroupDriver | { readonly unusable: string }

export interface DriverFacts {
  /** Undefined: the runtime has no RuntimeConfig. */
  readonly own?: OwnAnswer | undefined
  readonly operator: CgroupDriver | undefined
  readonly stated: StatedSettings | undefined
  /** Why there is nothing stated. */
  readonly silent: string | undefined
  readonly sandboxes: readonly SandboxCgroup[]
}

export type DriverFinding =
  | {
      readonly kind: 'known'
      readonly driver: CgroupDriver
      readonly source: string
      readonly evidence: readonly string[]
      /** What on this node contradicts it. */
      readonly warning?: string
    }
  | { readonly kind: 'unknown'; readonly reason: string; readonly evidence: readonly string[] }

const maxNamed = 5

interface Shown {
  readonly by: Readonly<Record<CgroupDriver, readonly string[]>>
  readonly text: string
}

/** What running sandboxes show. A unit's name used as a directory is what a cgroupfs runtime makes of a systemd parent. */
function readSandboxes(sandboxes: readonly SandboxCgroup[]): Shown {
  const by: Record<CgroupDriver, string[]> = { systemd: [], cgroupfs: [] }
  for (const { id, pod, path } of sandboxes) {
    const evidence = classifyCgroupPath(path)
    if (evidence === 'other') continue
    by[evidence === 'systemd' ? 'systemd' : 'cgroupfs'].push(`${pod} ${id.slice(0, 13)} at ${path}`)
  }
  const count = (d: CgroupDriver): string => `${by[d].length} running sandboxes under ${d}`
  return { by, text: `${count('systemd')}, ${count('cgroupfs')}` }
}

const other = (driver: CgroupDriver): CgroupDriver => (driver === 'systemd' ? 'cgroupfs' : 'systemd')

export function decideRuntimeDriver({
  own,
  operator,
  stated,
  silent,
  sandboxes,
}: DriverFacts): DriverFinding {
  const shown = readSandboxes(sandboxes)
  const handlers = (stated?.handlers ?? []).filter((h) => h.driver !== undefined)
  const says = handlers.map((h) => `${h.name} ${h.driver ?? ''}`).join(', ')
  const evidence = [
    ...(own === undefined ? [] : [`RuntimeConfig: ${typeof own === 'string' ? own : own.unusable}`]),
    ...(operator === undefined ? [] : [`operator: ${operator}`]),
    ...(stated === undefined ? [silent ?? 'no configuration'] : [`${stated.from}: ${says || 'no driver'}`]),
    shown.text,
  ]
  const drivers = [...new Set(handlers.map((h) => h.driver))].filter((d) => d !== undefined)
  const unknown = (reason: string): DriverFinding => ({ kind: 'unknown', reason, evidence })

  // Such an answer goes through untouched, whatever else there is: nothing but it may be shown.
  if (own !== undefined) {
    if (typeof own !== 'string') return unknown(`RuntimeConfig of the runtime gave ${own.unusable}`)
    const against = shown.by[other(own)]
    const known = { kind: 'known', driver: own, source: 'RuntimeConfig of the runtime', evidence } as const
    const others = [
      ...(operator === other(own) ? [`${operator} was set, but the runtime answers for itself`] : []),
      ...(against.length > 0 ? [`running sandboxes show ${other(own)}: ${name(against)}`] : []),
    ]
    return others.length === 0 ? known : { ...known, warning: others.join('; ') }
  }
  if (operator !== undefined) {
    const against = shown.by[other(operator)]
    const known = { kind: 'known', driver: operator, source: 'operator', evidence } as const
    const others = [
      ...(drivers.some((d) => d !== operator) ? [`${stated?.from ?? ''} says ${says}`] : []),
      ...(against.length > 0 ? [`running sandboxes show ${other(operator)}: ${name(against)}`] : []),
    ]
    return others.length === 0 ? known : { ...known, warning: others.join('; ') }
  }
  if (stated === undefined) return unknown(silent ?? 'the runtime does not show its configuration')
  const [driver, second] = drivers
  if (driver === undefined) return unknown(`${stated.from} names no handler with a cgroup driver`)
  if (second !== undefined) return unknown(`the handlers in ${stated.from} differ: ${says}`)
  const against = shown.by[other(driver)]
  if (against.length > 0)
    return unknown(
      `${stated.from} says ${driver}, but running sandboxes show ${other(driver)}: ${name(against)}`,
    )
  if (!stated.isAsLoaded && shown.by[driver].length === 0)
    return unknown(
      `${stated.from} says ${driver}, but it may not be what the runtime has loaded, and no running sandbox confirms it`,
    )
  return { kind: 'known', driver, source: stated.from, evidence }
}

const name = (list: readonly string[]): string =>
  list.length > maxNamed
    ? `${list.slice(0, maxNamed).join(', ')} and ${list.length - maxNamed} more`
    : list.join(', ')
