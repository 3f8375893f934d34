// A loop that takes a sample each period and keeps the newest. Whoever asks gets what is there; nobody makes it work.
import type { Clock } from '../ports/clock.js'

export interface Taken<T> {
  readonly value: T
  /** Monotonic. */
  readonly atNanos: bigint
}

export interface SamplerOptions<T> {
  readonly clock: Clock
  readonly periodMs: number
  take(signal: AbortSignal): Promise<T>
  /** May lengthen the wait after a failure; default: the period. */
  onFailure(error: unknown): number | undefined
  /** Wait after a sample; default: the period. */
  nextMs?(): number
  /** A sample took longer than a period, so the next one is late. */
  onLate(): void
}

export interface Sampler<T> {
  newest(): Taken<T> | undefined
  /** Undefined until something was taken; then how old it is. */
  ageMs(): number | undefined
  /** Resolves after the first attempt, good or bad. */
  readonly firstAttempt: Promise<void>
  /** The next sample is taken now. */
  wake(): void
  /** Forgets the newest one: it no longer describes anything. */
  drop(): void
  /** Ends with the signal. Rejects only for a bug. */
  run(signal: AbortSignal): Promise<void>
}

const toMs = (nanos: bigint): number => Number(nanos / 1_000_000n)

export function createSampler<T>(o: SamplerOptions<T>): Sampler<T> {
  const { clock, periodMs } = o
  let newest: Taken<T> | undefined
  let woken = new AbortController()
  let attempted: () => void = () => {}
  const firstAttempt = new Promise<void>((resolve) => {
    attempted = resolve
  })

  async function takeOnce(signal: AbortSignal): Promise<number> {
    const started = clock.monotonicNanos()
    let waitMs = periodMs
    try {
      const value = await o.take(signal)
      newest = { value, atNanos: clock.monotonicNanos() }
      waitMs = o.nextMs?.() ?? periodMs
    } catch (e) {
      if (signal.aborted) return 0
      waitMs = o.onFailure(e) ?? periodMs
    }
    attempted()
    const tookMs = toMs(clock.monotonicNanos() - started)
    if (tookMs > periodMs) o.onLate()
    return Math.max(waitMs - tookMs, periodMs / 10)
  }

  return {
    newest: () => newest,
    ageMs: () => (newest === undefined ? undefined : toMs(clock.monotonicNanos() - newest.atNanos)),
    firstAttempt,
    wake: () => woken.abort(),
    drop() {
      newest = undefined
    },
    async run(signal) {
      while (!signal.aborted) {
        woken = new AbortController()
        const wake = woken.signal
        const waitMs = await takeOnce(signal)
        await clock.sleep(waitMs, AbortSignal.any([signal, wake])).catch(() => undefined)
      }
    },
  }
}
