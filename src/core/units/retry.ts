// Waiting and trying again, on the clock that is handed in and until a signal ends it. No clock of its own.
import { type KeelsonError, rethrowBug } from '../errors.js'
import { withAny } from './any-signal.js'

/** What a clock must do for waiting; ports/clock.ts has more. */
interface Sleeper {
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Waits; an aborted signal ends the wait and is no error, because loops look at it themselves. */
export const pause = (clock: Sleeper, ms: number, ...signals: readonly AbortSignal[]): Promise<void> =>
  (signals.length > 1
    ? withAny(signals, (signal) => clock.sleep(ms, signal))
    : clock.sleep(ms, signals[0])
  ).catch(() => undefined)

/** The wait after so many failures in a row: doubled each time, up to a longest. */
export const doubling =
  (firstMs: number, longestMs: number) =>
  (failures: number): number =>
    Math.min(firstMs * 2 ** (failures - 1), longestMs)

interface RetryOptions {
  readonly clock: Sleeper
  readonly signal: AbortSignal
  /** How long to wait after so many failures in a row; undefined: the error is final. */
  readonly waitMs: (failures: number, error: KeelsonError) => number | undefined
  /** Each failure that is tried again. */
  readonly onRetry?: (error: KeelsonError, waitMs: number) => void
}

/** The first answer. Throws a final error, a bug of ours at once, and the signal's reason when that is aborted. */
export async function retry<T>(work: () => Promise<T>, o: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    o.signal.throwIfAborted()
    try {
      return await work()
    } catch (e) {
      o.signal.throwIfAborted()
      const error = rethrowBug(e)
      const waitMs = o.waitMs(failures, error)
      if (waitMs === undefined) throw error
      o.onRetry?.(error, waitMs)
      await o.clock.sleep(waitMs, o.signal)
    }
  }
}
