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
const toNanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000_000))

export function createSampler<T>(o: SamplerOptions<T>): Sampler<T> {
  const { clock, periodMs } = o
  let newest: Taken<T> | undefined
  let woken = new AbortController()
  let attempted: () => void = () => {}
  const firstAttempt = new Promise<void>((resolve) => {
    attempted = resolve
  })

  /** When the next one is to begin. */
  async function takeOnce(dueNanos: bigint, signal: AbortSignal): Promise<bigint> {
    const started = clock.monotonicNanos()
    let waitMs = periodMs
    try {
      const value = await o.take(signal)
      newest = { value, atNanos: clock.monotonicNanos() }
      waitMs = o.nextMs?.() ?? periodMs
    } catch (e) {
      if (signal.aborted) return dueNanos
      waitMs = o.onFailure(e) ?? periodMs
    }
    attempted()
    const now = clock.monotonicNanos()
    if (toMs(now - started) > periodMs) o.onLate()
    const least = now + toNanos(periodMs / 10)
    const next = dueNanos + toNanos(waitMs)
    return next > least ? next : least
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
      // Counted from when each was due: samplers that begin together stay together, and a runtime can answer them with one
      // look at the node.
      let due = clock.monotonicNanos()
      while (!signal.aborted) {
        woken = new AbortController()
        const wake = woken.signal
        due = await takeOnce(due, signal)
        const waitMs = Math.max(0, toMs(due - clock.monotonicNanos()))
        await clock.sleep(waitMs, AbortSignal.any([signal, wake])).catch(() => undefined)
        if (wake.aborted) due = clock.monotonicNanos()
      }
    },
  }
}
