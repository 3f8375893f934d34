// registryPullQPS and registryBurst: so many pulls at once, then so many a second.

export interface PullRate {
  /** False: this pull is one too many for now. */
  tryTake(nowNanos: bigint): boolean
}

/** A rate of 0 is no limit. */
export function createPullRate(perSecond: number, burst: number): PullRate {
  let left = burst
  let updatedNanos: bigint | undefined
  return {
    tryTake(nowNanos) {
      if (perSecond <= 0) return true
      const seconds = Number(nowNanos - (updatedNanos ?? nowNanos)) / 1e9
      updatedNanos = nowNanos
      left = Math.min(burst, left + seconds * perSecond)
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
