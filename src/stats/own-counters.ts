// The stats' own metrics, on /metrics.
import type { Metrics } from '../ports/metrics.js'
import type { DroppedMetrics } from './runtime/metrics.js'
import type { SourceName } from './sample.js'

export type EndpointName = 'stats' | 'metrics'

export interface OwnCounters {
  /** The source that the endpoint's newest answer came from. */
  source(endpoint: EndpointName, source: SourceName): void
  provider(provider: 'cri' | 'cadvisor'): void
  failed(what: string): void
  late(sampler: string): void
  fellBack(endpoint: EndpointName): void
  missing(endpoint: EndpointName, containers: number): void
  dropped(dropped: DroppedMetrics): void
}

export function createOwnCounters(metrics: Metrics): OwnCounters {
  const provider = metrics.gauge('kubelet_metrics_provider', 'The configured provider of pod stats.', [
    'provider',
  ])
  const source = metrics.gauge(
    'keelson_stats_source',
    'The source that an endpoint answers from: 1 for the one in use, else 0.',
    ['endpoint', 'source'],
  )
  const failures = metrics.counter('keelson_stats_failures_total', 'Failed samples, by what failed.', [
    'what',
  ])
  const late = metrics.counter(
    'keelson_stats_late_samples_total',
    'Samples that took longer than their period.',
    ['sampler'],
  )
  const fallbacks = metrics.counter(
    'keelson_stats_fallbacks_total',
    'Fallbacks from the runtime to the cgroup source, by endpoint.',
    ['endpoint'],
  )
  const missing = metrics.gauge(
    'keelson_stats_missing_containers',
    'Running containers without values in the newest sample.',
    ['endpoint'],
  )
  const dropped = metrics.counter(
    'keelson_stats_dropped_series_total',
    'Metrics of the runtime that were dropped, by reason.',
    ['reason'],
  )
  const other: Readonly<Record<SourceName, SourceName>> = { cri: 'cgroup', cgroup: 'cri' }
  return {
    source(endpoint, name) {
      source.set(1, { endpoint, source: name })
      source.set(0, { endpoint, source: other[name] })
    },
    provider: (name) => provider.set(1, { provider: name }),
    failed: (what) => failures.inc({ what }),
    late: (sampler) => late.inc({ sampler }),
    fellBack: (endpoint) => fallbacks.inc({ endpoint }),
    missing: (endpoint, containers) => missing.set(containers, { endpoint }),
    dropped(d) {
      const reasons: Readonly<Record<string, number>> = {
        undeclared: d.undeclared,
        'label-count': d.labelMismatch,
        duplicate: d.duplicates,
        'no-value': d.withoutValue,
      }
      for (const [reason, count] of Object.entries(reasons)) if (count > 0) dropped.inc({ reason }, count)
    },
  }
}
