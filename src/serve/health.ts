// Health checks of a process: small questions with a name, run together and counted for /metrics/slis.
import { messageOf } from '../core/errors.js'
import type { Metrics } from '../ports/metrics.js'

export interface HealthCheck {
  readonly name: string
  /** Undefined: healthy. Otherwise what is wrong. */
  check(signal: AbortSignal): Promise<string | undefined> | string | undefined
  /** It fails when another process does, such as the runtime; starting this one again would not help. */
  readonly aboutOthers?: true
}

interface HealthResult {
  readonly name: string
  readonly problem?: string
}

export interface Health {
  readonly names: readonly string[]
  /** All checks, or the one that is named. Undefined: there is no such check. */
  run(name: string | undefined, signal: AbortSignal): Promise<readonly HealthResult[] | undefined>
}

const ping: HealthCheck = { name: 'ping', check: () => undefined }

async function runOne(check: HealthCheck, signal: AbortSignal): Promise<HealthResult> {
  try {
    const problem = await check.check(signal)
    return problem === undefined ? { name: check.name } : { name: check.name, problem }
  } catch (e) {
    return { name: check.name, problem: messageOf(e) }
  }
}

export function createHealth(checks: readonly HealthCheck[], slis: Metrics): Health {
  const all = [ping, ...checks.filter((c) => c.name !== ping.name)]
  const state = slis.gauge('kubernetes_healthcheck', 'Outcome of the latest run of each health check.', [
    'name',
    'type',
  ])
  const runs = slis.counter('kubernetes_healthchecks_total', 'Runs of each health check by outcome.', [
    'name',
    'type',
    'status',
  ])
  return {
    names: all.map((c) => c.name),
    async run(name, signal) {
      const wanted = name === undefined ? all : all.filter((c) => c.name === name)
      if (wanted.length === 0) return undefined
      const results = await Promise.all(wanted.map((c) => runOne(c, signal)))
      for (const { name, problem } of results) {
        const healthy = problem === undefined
        state.set(healthy ? 1 : 0, { name, type: 'healthz' })
        runs.inc({ name, type: 'healthz', status: healthy ? 'success' : 'error' })
      }
      return results
    },
  }
}

/** The text of /healthz: `ok`, or one line per check. Causes are for the log, not for load balancers. */
export function formatHealth(results: readonly HealthResult[], verbose: boolean): string {
  const failed = results.some((r) => r.problem !== undefined)
  if (!failed && !verbose) return 'ok'
  const lines = results.map((r) =>
    r.problem === undefined ? `[+]${r.name} ok` : `[-]${r.name} failed: reason withheld`,
  )
  return `${[...lines, `healthz check ${failed ? 'failed' : 'passed'}`].join('\n')}\n`
}
