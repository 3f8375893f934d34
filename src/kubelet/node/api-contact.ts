// Whether the API server answers the heartbeats: said once when it stops and once when it answers again, not at each try.
import { asKeelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'

export interface ApiContact {
  succeeded(): void
  failed(error: unknown): void
  /** How often it came back: what was known before may be outdated. */
  outages(): number
  /** How long it has not answered; undefined: it does. */
  silentMs(): number | undefined
}

export function createApiContact(clock: Pick<Clock, 'monotonicNanos'>, log: Log): ApiContact {
  let since: bigint | undefined
  let outages = 0
  const silentMs = (): number | undefined =>
    since === undefined ? undefined : Number((clock.monotonicNanos() - since) / 1_000_000n)
  return {
    silentMs,
    outages: () => outages,
    succeeded() {
      const ms = silentMs()
      if (ms !== undefined) outages++
      if (ms !== undefined) log.info('the API server answers heartbeats again', { silentMs: ms })
      since = undefined
    },
    failed(e) {
      const error = asKeelsonError(e)
      if (since === undefined)
        log.warn('a heartbeat to the API server failed; pods go on, retrying', { error })
      else log.debug('a heartbeat to the API server failed again', { error })
      since ??= clock.monotonicNanos()
    },
  }
}
