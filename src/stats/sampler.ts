// A loop that reads something each period and keeps the newest result, from which requests are answered. A read may be asked for
// in between, and is still the loop's: however many ask, one is under way.
import { pause } from '../core/units/retry.js'
import type { Clock } from '../ports/clock.js'

interface Reading<T> {
  readonly value: T
  /** Monotonic. */
  readonly atNanos: bigint
}

interface SamplerOptions<T> {
  readonly clock: Clock
  readonly periodMs: number
  read(signal: AbortSignal): Promise<T>
  /** May lengthen the wait after a failure; default: the period. */
  onFailure(error: unknown): number | undefined
  /** Wait after a success; default: the period. */
  nextMs?(): number
  /** A read took longer than a period, so the next one is late. */
  onLate(): void
}

export interface Sampler<T> {
  /** Undefined before the first success. */
  newest(): T | undefined
  ageMs(): number | undefined
  /** Resolves after the first attempt, successful or not. */
  readonly firstAttempt: Promise<void>
  /** The next read begins now. */
  wake(): void
  /** Wakes it, and resolves after the next attempt, successful or not, or after so long. */
  refresh(waitMs: number, signal: AbortSignal): Promise<void>
  /** Ends with the signal. Rejects only for a bug. */
  run(signal: AbortSignal): Promise<void>
}

const toMs = (nanos: bigint): number => Number(nanos / 1_000_000n)
const toNanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000_000))

export function createSampler<T>(o: SamplerOptions<T>): Sampler<T> {
  const { clock, periodMs } = o
  let newest: Reading<T> | undefined
  let woken = new AbortController()
  let attempted: () => void = () => {}
  const waiting: (() => void)[] = []
  const firstAttempt = new Promise<void>((resolve) => {
    attempted = resolve
  })

  /** When the next one is to begin. */
  async function readOnce(dueNanos: bigint, signal: AbortSignal): Promise<bigint> {
    const started = clock.monotonicNanos()
    let waitMs = periodMs
    try {
      const value = await o.read(signal)
      newest = { value, atNanos: clock.monotonicNanos() }
      waitMs = o.nextMs?.() ?? periodMs
    } catch (e) {
      if (signal.aborted) return dueNanos
      waitMs = o.onFailure(e) ?? periodMs
    }
    attempted()
    for (const resume of waiting.splice(0)) resume()
    const now = clock.monotonicNanos()
    if (toMs(now - started) > periodMs) o.onLate()
    const earliest = now + toNanos(periodMs / 10)
    const next = dueNanos + toNanos(waitMs)
    return next > earliest ? next : earliest
  }

  return {
    newest: () => newest?.value,
    ageMs: () => (newest === undefined ? undefined : toMs(clock.monotonicNanos() - newest.atNanos)),
    firstAttempt,
    wake: () => woken.abort(),
    async refresh(waitMs, signal) {
      const next = new Promise<void>((resolve) => waiting.push(resolve))
      woken.abort()
      await waitAtMost(clock, waitMs, next, signal)
    },
    async run(signal) {
      // Counted from when each was due: samplers that begin together stay together, and a runtime can answer them with one
      // look at the node.
      let due = clock.monotonicNanos()
      while (!signal.aborted) {
        woken = new AbortController()
        const wake = woken.signal
        due = await readOnce(due, signal)
        const waitMs = Math.max(0, toMs(due - clock.monotonicNanos()))
        await pause(clock, waitMs, signal, wake)
        if (wake.aborted) due = clock.monotonicNanos()
      }
    },
  }
}

/** Resolves with the work, or after so long; the work goes on. */
export async function waitAtMost(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController()
  const timer = pause(clock, ms, signal, done.signal)
  await Promise.race([work, timer])
  done.abort()
}
