// What /metrics/probes shows: how often each probe ran with which result, and how long it took. Series go with their pod.
import type { ProbeType } from '../../core/pod/spec/handlers.js'
import type { Metrics } from '../../ports/metrics.js'
import { probeTitle } from './decide/outcome.js'

interface ProbeName {
  readonly type: ProbeType
  readonly container: string
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string }
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const results = { success: 'successful', failure: 'failed' } as const

/** Of one probe; the labels are built once. */
export interface ProbeSeries {
  count(result: 'success' | 'failure', seconds: number): void
  remove(): void
}

export function createProbeMetrics(metrics: Pick<Metrics, 'counter' | 'histogram'>) {
  const total = metrics.counter(
    'prober_probe_total',
    'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
  )
  const duration = metrics.histogram(
    'prober_probe_duration_seconds',
    'Duration in seconds for a probe response.',
    buckets,
    ['probe_type', 'container', 'pod', 'namespace'],
  )
  return {
    series({ type, container, pod }: ProbeName): ProbeSeries {
      const base = { probe_type: probeTitle(type), container, pod: pod.name, namespace: pod.namespace }
      const labelsOf = (result: 'success' | 'failure') => ({
        ...base,
        pod_uid: pod.uid,
        result: results[result],
      })
      const labels = { success: labelsOf('success'), failure: labelsOf('failure') }
      return {
        count(result, seconds) {
          total.inc(labels[result])
          if (result === 'success') duration.observe(seconds, base)
        },
        remove() {
          total.remove(labels.success)
          total.remove(labels.failure)
          duration.remove(base)
        },
      }
    },
  }
}
