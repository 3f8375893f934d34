// This node in its cluster, as the dashboard shows it.
import type { LiveCluster } from '../../../core/dashboard/model.js'
import type { KubeNode } from '../../../core/kube/objects.js'

interface ClusterFacts {
  readonly server: string
  /** As the API server has it; undefined: not registered, or not heard of yet. */
  readonly node: KubeNode | undefined
  /** How long the API server has not answered; undefined: it does. */
  readonly silentMs: number | undefined
}

export function liveCluster({ server, node, silentMs }: ClusterFacts): LiveCluster {
  const conditions = node?.status?.conditions ?? []
  const ready = conditions.find((c) => c.type === 'Ready')
  const pressures = conditions.filter((c) => c.type !== 'Ready' && c.status === 'True').map((c) => c.type)
  const problems = [
    ...(silentMs === undefined
      ? []
      : [`the API server has not answered for ${Math.round(silentMs / 1000)} s; pods go on`]),
    ...(node === undefined ? ['the Node is not registered'] : []),
    ...(ready === undefined || ready.status === 'True' ? [] : [ready.message ?? '']),
    ...pressures,
  ]
  return {
    server,
    ready: ready?.status ?? null,
    isSchedulable: node?.spec?.unschedulable !== true,
    problems,
  }
}
