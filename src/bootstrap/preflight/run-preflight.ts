// Asks every check and decides whether the command may go on.
import { keelsonError } from '../../core/errors.js'
import { didYouMean } from '../../core/units/nearest-name.js'
import type { Finding } from '../../doctor/check.js'
import { worstOf } from '../../doctor/run-checks.js'
import type { NodePorts } from '../../ports/bootstrap.js'
import type { PhaseContext } from '../context.js'
import { flagsTextOf } from '../facts.js'
import { endpointOfFlags, parseKubeletFlags } from '../kubelet-flags.js'
import type { PreflightFacts } from './check.js'
import { preflightChecks } from './checks.js'

export interface PreflightResult {
  readonly name: string
  readonly level: 'ok' | 'skipped' | 'warning' | 'error' | 'ignored'
  readonly message?: string
  readonly remedy?: string
}

export async function readPreflightFacts(
  ctx: PhaseContext,
  dryRun: boolean,
  ports: NodePorts,
): Promise<PreflightFacts> {
  const { facts, socket } = ctx
  const endpointAnswers =
    facts.listening.includes(socket.endpoint) || (await ports.sockets.answers(socket.endpoint))
  const flags = facts.instance === undefined ? undefined : flagsTextOf(facts)
  return {
    command: ctx.request.command,
    version: ctx.version,
    host: facts.host,
    endpoint: socket.endpoint,
    endpointAnswers,
    endpointDenied: !endpointAnswers && (await ports.sockets.isDenied(socket.endpoint)),
    dryRun,
    runtime: endpointAnswers ? await ports.runtime.describe(socket.endpoint) : undefined,
    listening: facts.listening,
    staleFlag: flags === undefined ? undefined : endpointOfFlags(parseKubeletFlags(flags)),
  }
}

/** `all` lets every error pass as a warning would. */
export function decidePreflight(facts: PreflightFacts, ignore: readonly string[]): PreflightResult[] {
  const ignored = new Set(ignore.map((n) => n.trim().toLowerCase()).filter((n) => n !== ''))
  const known = preflightChecks.map((c) => c.name)
  for (const name of ignored)
    if (name !== 'all' && !known.includes(name))
      throw keelsonError(
        'usage.invalid',
        `--ignore-preflight-errors: unknown check ${name}${didYouMean(name, known)}; checks: ${known.join(', ')}, or all`,
        { name },
      )
  return preflightChecks.map((check) => {
    const { severity, message, remedy } = worstOf(check.run(facts))
    const passes = severity === 'error' && (ignored.has('all') || ignored.has(check.name))
    return {
      name: check.name,
      level: passes ? 'ignored' : levels[severity],
      ...(message === '' ? {} : { message }),
      ...(remedy === undefined ? {} : { remedy }),
    }
  })
}

/** kubeadm's words. What is only worth knowing keeps no command from running. */
const levels: Readonly<Record<Finding['severity'], PreflightResult['level']>> = {
  ok: 'ok',
  info: 'ok',
  skipped: 'skipped',
  warn: 'warning',
  error: 'error',
}

export function requirePreflight(results: readonly PreflightResult[]): void {
  const bad = results.filter((r) => r.level === 'error')
  if (bad.length === 0) return
  const list = bad.map((r) => `${r.name}: ${r.message}; ${r.remedy}`).join(' | ')
  throw keelsonError(
    'node.preflight',
    `preflight checks failed: ${list} (continue anyway with --ignore-preflight-errors=${bad.map((r) => r.name).join(',')})`,
    { checks: bad.map((r) => r.name) },
  )
}
