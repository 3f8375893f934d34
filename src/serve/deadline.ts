// Time limits and repeated attempts, on the clock that is handed in.
import { retry } from '../core/units/retry.js'
import type { Clock } from '../ports/clock.js'

export const monotonicMs = (clock: Pick<Clock, 'monotonicNanos'>): number =>
  Number(clock.monotonicNanos() / 1_000_000n)

/** Runs `work` with a signal that ends after `ms` or with `parent`; rejects then even if `work` does not listen. */
export async function withDeadline<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const ended = new AbortController()
  const over = new AbortController()
  const signal = AbortSignal.any(parent === undefined ? [over.signal] : [over.signal, parent])
  const gone = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const timer = clock.sleep(ms, ended.signal).then(
    () => over.abort(late()),
    () => undefined,
  )
  try {
    return await Promise.race([work(signal), gone])
  } finally {
    ended.abort()
    await timer
  }
}

interface Backoff {
  readonly firstMs: number
  readonly factor: number
  /** Attempts in all. */
  readonly steps: number
  /** Each wait grows by a random part of at most this share. */
  readonly jitter: number
}

/** As the review clients of the upstream kubelet do it. */
export const reviewBackoff: Backoff = { firstMs: 500, factor: 1.5, steps: 5, jitter: 0.2 }

/** Tries again only what the error itself calls worth it. */
export const withRetries = <T>(
  clock: Pick<Clock, 'sleep'>,
  random: () => number,
  { firstMs, factor, steps, jitter }: Backoff,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> =>
  retry(work, {
    clock,
    signal,
    waitMs: (failures, error) =>
      failures >= steps || error.details.retryable !== true
        ? undefined
        : firstMs * factor ** (failures - 1) * (1 + random() * jitter),
  })
