// The kubelet's metrics about its pods, under upstream's names.
import type { Metrics } from '../../../ports/metrics.js'
import type { RuntimeView } from '../view/runtime-view.js'

interface PodMetrics {
  turn(seconds: number): void
  readonly orphansRemoved: (count: number) => void
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Pods that a source wants and that have not begun to end. */
interface DesiredPods {
  readonly static: number
  readonly api: number
}

export function createPodMetrics(
  metrics: Metrics,
  view: RuntimeView,
  desired: () => DesiredPods,
): PodMetrics {
  metrics.gauge(
    'kubelet_desired_pods',
    'The number of pods the kubelet is being instructed to run.',
    ['static'],
    (g) => {
      const count = desired()
      g.set(count.static, { static: 'true' })
      g.set(count.api, { static: '' })
    },
  )
  metrics.gauge('kubelet_running_pods', 'Number of pods that have a running pod sandbox', [], (g) =>
    g.set(view.all().filter((pod) => pod.sandboxes.some((s) => s.ready)).length),
  )
  metrics.gauge(
    'kubelet_running_containers',
    'Number of containers currently running',
    ['container_state'],
    (g) => {
      for (const state of ['created', 'running', 'exited', 'unknown'] as const) {
        const count = view.all().flatMap((pod) => pod.containers.filter((c) => c.state === state)).length
        g.set(count, { container_state: state })
      }
    },
  )
  const turns = metrics.histogram(
    'kubelet_pod_worker_duration_seconds',
    'Duration in seconds to sync a single pod.',
    buckets,
    ['operation_type'],
  )
  const orphans = metrics.counter(
    'kubelet_orphan_pod_cleaned_volumes',
    'The number of orphaned pods whose directories were cleaned up.',
  )
  return {
    turn: (seconds) => turns.observe(seconds, { operation_type: 'sync' }),
    orphansRemoved: (count) => orphans.inc({}, count),
  }
}
