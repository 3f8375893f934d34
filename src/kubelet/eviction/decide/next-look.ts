// When to look at the memory again: sooner the less of it is left above a threshold.
import type { Observations } from './observations.js'
import { type Threshold, thresholdAmount } from './thresholds.js'

export const shortestMs = 500
export const longestMs = 2_000
/** More than a processor or two can touch for the first time; what is left lasts at least that long. */
const fastestBytesPerMs = (2n * 1024n ** 3n) / 1_000n

export function nextLookMs(thresholds: readonly Threshold[], observations: Observations): number {
  const left = thresholds.flatMap(({ signal, value }) => {
    const seen = observations.get(signal)
    return seen === undefined ? [] : [seen.available - thresholdAmount(value, seen.capacity)]
  })
  const lasts = left.map((bytes) => Number(bytes / fastestBytesPerMs))
  return Math.max(shortestMs, Math.min(longestMs, ...lasts))
}
