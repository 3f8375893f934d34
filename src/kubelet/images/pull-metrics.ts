// How long pulls take, by the size of the image, under upstream's name.
import type { Metrics } from '../../ports/metrics.js'

export interface PullMetrics {
  pulled(seconds: number, sizeBytes: bigint): void
}

const mebibyte = 1024n * 1024n
const sizes: readonly (readonly [aboveBytes: bigint, label: string])[] = [
  [100n * 1024n * mebibyte, 'GT100GB'],
  [60n * 1024n * mebibyte, '60GB-100GB'],
  [40n * 1024n * mebibyte, '40GB-60GB'],
  [30n * 1024n * mebibyte, '30GB-40GB'],
  [20n * 1024n * mebibyte, '20GB-30GB'],
  [10n * 1024n * mebibyte, '10GB-20GB'],
  [5n * 1024n * mebibyte, '5GB-10GB'],
  [1024n * mebibyte, '1GB-5GB'],
  [500n * mebibyte, '500MB-1GB'],
  [100n * mebibyte, '100MB-500MB'],
  [10n * mebibyte, '10MB-100MB'],
  [0n, '0-10MB'],
]
const buckets = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600]

export function createPullMetrics(metrics: Metrics): PullMetrics {
  const durations = metrics.histogram(
    'kubelet_image_pull_duration_seconds',
    'Duration in seconds to pull an image.',
    buckets,
    ['image_size_in_bytes'],
  )
  return {
    pulled(seconds, sizeBytes) {
      const [, label] = sizes.find(([above]) => sizeBytes > above) ?? []
      durations.observe(seconds, { image_size_in_bytes: label ?? 'N/A' })
    },
  }
}
