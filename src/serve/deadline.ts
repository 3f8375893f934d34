// Time limits and repeated attempts, on the clock that is handed in.
import { asKeelsonError, isKeelsonError } from '../core/errors.js'
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

const isRetryable = (e: unknown): boolean => isKeelsonError(e) && e.details.retryable === true

/** Tries again only what the error itself calls worth it. */
export async function withRetries<T>(
  clock: Pick<Clock, 'sleep'>,
  random: () => number,
  backoff: Backoff,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  let waitMs = backoff.firstMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (e) {
      if (attempt >= backoff.steps || !isRetryable(e) || signal.aborted) throw asKeelsonError(e)
    }
    await clock.sleep(waitMs * (1 + random() * backoff.jitter), signal)
    waitMs *= backoff.factor
  }
}
