// Logs whether the runtime is reachable: at the start, when that changes, and each minute while it is not. Clients may not
// call for minutes, so the runtime is probed.
import { pause } from '../core/units/retry.js'
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import type { CriClient } from '../ports/runtime.js'

/** Between two lines about a runtime that is still unreachable. */
const repeatMs = 60_000
const lookMs = 1_000
const answerMs = 5_000

interface ReachLog {
  /** What a try to reach the runtime at this socket led to; undefined: it was reached. */
  report(socket: string, error: unknown): void
}

interface LastReport {
  isReached: boolean
  atNanos: bigint
}

export function createReachLog(log: Log, clock: Pick<Clock, 'monotonicNanos'>): ReachLog {
  const last = new Map<string, LastReport>()
  return {
    report(socket, error) {
      const before = last.get(socket)
      const atNanos = clock.monotonicNanos()
      if (error === undefined) {
        if (before?.isReached === true) return
        last.set(socket, { isReached: true, atNanos })
        if (before === undefined) log.info('the container runtime is reachable', { socket })
        else log.info('the container runtime is reachable again', { socket })
        return
      }
      const isDue = before === undefined || atNanos - before.atNanos >= BigInt(repeatMs) * 1_000_000n
      if (before?.isReached === false && !isDue) return
      last.set(socket, { isReached: false, atNanos })
      log.warn('the container runtime is unreachable; calls are refused with UNAVAILABLE', { socket, error })
    },
  }
}

interface ReachWatchOptions {
  readonly client: Pick<CriClient, 'runtime' | 'onState' | 'socketPath'>
  readonly clock: Clock
  readonly reach: ReachLog
  readonly signal: AbortSignal
}

/** Asks once a second until the runtime answers, then again when the connection has ended. Ends with the signal. */
export async function watchReach({ client, clock, reach, signal }: ReachWatchOptions): Promise<void> {
  let lost = new AbortController()
  const stop = client.onState((state) => {
    if (state === 'idle' || state === 'backoff') lost.abort()
  })
  try {
    while (!signal.aborted) {
      lost = new AbortController()
      const error = await client.runtime
        .version({ version: 'v1' }, { timeoutMs: answerMs, signal })
        .then(() => undefined)
        .catch((e: unknown) => e)
      if (signal.aborted) return
      reach.report(client.socketPath, error)
      await (error === undefined ? untilAborted(lost.signal, signal) : pause(clock, lookMs, signal))
    }
  } finally {
    stop()
  }
}

const untilAborted = (...signals: readonly AbortSignal[]): Promise<void> =>
  new Promise((resolve) => {
    const any = AbortSignal.any([...signals])
    if (any.aborted) resolve()
    else any.addEventListener('abort', () => resolve(), { once: true })
  })
