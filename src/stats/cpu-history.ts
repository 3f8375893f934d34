// The last reading of each processor counter, for rates. One sampler owns one of these, so that two readers of the
// same counter never shorten each other's window.
import type { CpuReading } from './cpu-rate.js'

export interface CpuHistory {
  /** The reading before this one. */
  exchange(key: string, now: CpuReading | undefined): CpuReading | undefined
  /** Forgets what was not read since the last call. */
  sweep(): void
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
