// How often the stats are sampled: every period while somebody reads them; once in six while nobody does, which is all that
// eviction needs of them. Whoever asks again gets a new sample.
import type { Clock } from '../ports/clock.js'

export interface Pace {
  /** The time between two samples as of now. */
  periodMs(): number
  /** Somebody reads the stats. True: nobody did for a while, so the newest sample may be old. */
  asked(): boolean
}

const IDLE_AFTER_PERIODS = 3
const IDLE_PERIODS = 6

export function createPace(clock: Pick<Clock, 'monotonicNanos'>, periodMs: number): Pace {
  const idleNanos = BigInt(Math.round(periodMs * IDLE_AFTER_PERIODS)) * 1_000_000n
  let askedAt = clock.monotonicNanos()
  const isIdle = (): boolean => clock.monotonicNanos() - askedAt > idleNanos
  return {
    periodMs: () => (isIdle() ? periodMs * IDLE_PERIODS : periodMs),
    asked() {
      const wasIdle = isIdle()
      askedAt = clock.monotonicNanos()
      return wasIdle
    },
  }
}
