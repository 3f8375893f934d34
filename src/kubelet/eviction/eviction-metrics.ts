// Metrics of eviction. The first two are upstream's.
import type { Metrics } from '../../ports/metrics.js'

export interface EvictionMetrics {
  /** `by`: a signal, or a limit of local storage. */
  evicted(by: string): void
  statsAge(signal: string, seconds: number): void
  /** A threshold was met, and no pod was ended. */
  skipped(reason: 'stale-stats' | 'no-pod'): void
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createEvictionMetrics(metrics: Metrics): EvictionMetrics {
  const evictions = metrics.counter(
    'kubelet_evictions',
    'Cumulative number of pod evictions by eviction signal',
    ['eviction_signal'],
  )
  const ages = metrics.histogram(
    'kubelet_eviction_stats_age_seconds',
    'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
    buckets,
    ['eviction_signal'],
  )
  const skipped = metrics.counter(
    'keelson_evictions_skipped_total',
    'Rounds in which a threshold was met and no pod could be evicted, by reason.',
    ['reason'],
  )
  return {
    evicted: (by) => evictions.inc({ eviction_signal: by }),
    statsAge: (signal, seconds) => ages.observe(seconds, { eviction_signal: signal }),
    skipped: (reason) => skipped.inc({ reason }),
  }
}
