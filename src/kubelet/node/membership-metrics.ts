// What metrics say about a node of a cluster, by upstream's names.
import type { Clock } from '../../ports/clock.js'
import type { Metrics } from '../../ports/metrics.js'
import type { ApiContact } from './api-contact.js'

interface MembershipMetrics {
  registering(): void
  /** Only a Node that was created counts. */
  registered(): void
  ready(): void
}

export function createMembershipMetrics(
  metrics: Metrics,
  clock: Pick<Clock, 'monotonicNanos'>,
  nodeName: string,
  contact: ApiContact,
): MembershipMetrics {
  metrics
    .gauge('kubelet_node_name', "[ALPHA] The node's name. The count is always 1.", ['node'])
    .set(1, { node: nodeName })
  metrics.gauge(
    'keelson_kubelet_api_silent_seconds',
    'Seconds since the API server stopped to answer heartbeats; 0 while it answers.',
    [],
    (gauge) => gauge.set((contact.silentMs() ?? 0) / 1000),
  )
  const gauge = (name: string, help: string) => metrics.gauge(`kubelet_node_startup_${name}`, help)
  const registration = gauge(
    'registration_duration_seconds',
    '[ALPHA] Seconds from the first try to register the Node until it was created.',
  )
  const afterwards = gauge(
    'post_registration_duration_seconds',
    '[ALPHA] Seconds from the creation of the Node until it was Ready.',
  )
  const seconds = (from: bigint): number => Number((clock.monotonicNanos() - from) / 1_000_000n) / 1000
  let triedAt: bigint | undefined
  let createdAt: bigint | undefined
  return {
    registering() {
      triedAt ??= clock.monotonicNanos()
    },
    registered() {
      if (triedAt === undefined || createdAt !== undefined) return
      registration.set(seconds(triedAt))
      createdAt = clock.monotonicNanos()
    },
    ready() {
      if (createdAt === undefined) return
      afterwards.set(seconds(createdAt))
      createdAt = undefined
      triedAt = undefined
    },
  }
}
