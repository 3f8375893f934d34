// A token bucket as client-go has one: a burst at once, then so many per second. Pure: the time comes in.

export interface TokenBucket {
  readonly tokens: number
  readonly atMs: number
}

export interface BucketRate {
  readonly burst: number
  readonly perSecond: number
}

interface Taken {
  readonly bucket: TokenBucket
  /** 0: a token was there and was taken. Otherwise none was taken, and one is there after this time. */
  readonly waitMs: number
}

export function takeToken(before: TokenBucket | undefined, rate: BucketRate, nowMs: number): Taken {
  const since = before === undefined ? 0 : Math.max(0, nowMs - before.atMs)
  const tokens = Math.min(rate.burst, (before?.tokens ?? rate.burst) + (since * rate.perSecond) / 1000)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, atMs: nowMs }, waitMs: 0 }
  return {
    bucket: { tokens, atMs: nowMs },
    waitMs: Math.max(1, Math.ceil(((1 - tokens) * 1000) / rate.perSecond)),
  }
}
