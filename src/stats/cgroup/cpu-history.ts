// The last reading of each processor counter, for rates. One sampler owns one of these, so that two readers of the
// same counter never shorten each other's window.
import type { CpuReading } from './cpu-rate.js'

export interface CpuHistory {
  /** The reading before this one. */
  exchange(key: string, now: CpuReading | undefined): CpuReading | undefined
  /** Forgets what was not read since the last call. */
  sweep(): void
}

interface Spaced {
  readonly now: CpuReading
  readonly before: CpuReading | undefined
}

/** For readers that come when they like: no rate spans less than this, however close two readings are. */
export function createSpacedHistory(leastNanos: bigint): CpuHistory {
  let kept = new Map<string, Spaced>()
  let seen = new Map<string, Spaced>()
  return {
    exchange(key, now) {
      const last = kept.get(key)
      if (now === undefined) return last?.now
      const isApart = last === undefined || now.timeNanos - last.now.timeNanos >= leastNanos
      seen.set(key, isApart ? { now, before: last?.now } : last)
      return isApart ? last?.now : last.before
    },
    sweep() {
      kept = seen
      seen = new Map()
    },
  }
}

export function createCpuHistory(): CpuHistory {
  let before = new Map<string, CpuReading>()
  let current = new Map<string, CpuReading>()
  return {
    exchange(key, now) {
      if (now !== undefined) current.set(key, now)
      return before.get(key)
    },
    sweep() {
      before = current
      current = new Map()
    },
  }
}
