// What the kubelet serves: values, pods, Memory QoS and the dashboard, each where the node has it.
import type { KubeCalls } from '../ports/kube-calls.js'
import type { CriClient } from '../ports/runtime.js'
import type { Endpoint } from '../serve/endpoint.js'
import { memoryQosEndpoint } from '../serve/endpoints/memory-qos.js'
import type { Stats } from '../stats/create-stats.js'
import { type ConfigzFacts, kubeletConfigz } from './configz.js'
import { kubeletLive } from './dashboard-source.js'
import type { KubeletPorts } from './kubelet-ports.js'
import type { KubeletMemoryQos } from './memory-qos.js'
import type { InspectedNode } from './node/inspect-node.js'
import { podPaths, statsEndpoints } from './node/node-stats.js'
import type { RunningPods } from './pods/start-pods.js'
import { kubeletServeSettings } from './serve-settings.js'

export interface ServedNode {
  /** What changes while the kubelet runs is read anew each time. */
  readonly facts: () => Omit<ConfigzFacts, 'stats' | 'metricsUrl'>
  readonly metricsUrl: () => ConfigzFacts['metricsUrl']
  readonly nodeName: string
  /** --root-dir without links. */
  readonly rootDir: string
  readonly client: CriClient
  readonly linux: InspectedNode | undefined
  readonly stats: Stats
  readonly memoryQos: KubeletMemoryQos | undefined
  readonly pods: RunningPods | undefined
  readonly api: KubeCalls | undefined
  /** The certificate of the cluster with its key; undefined: a self-signed one, or the one of the configuration. */
  readonly servingPairFile: string | undefined
  readonly signal: AbortSignal
}

/** Undefined with enableServer: false. */
export async function serveNode(
  n: ServedNode,
  ports: KubeletPorts,
): Promise<Awaited<ReturnType<KubeletPorts['serve']>> | undefined> {
  const { config } = n.facts().loaded
  if (!config.kubelet.enableServer) {
    ports.log.info('enableServer is false: nothing is served')
    return undefined
  }
  const { api, memoryQos, pods } = n
  return ports.serve({
    settings: {
      ...kubeletServeSettings(config, n.nodeName, n.rootDir),
      ...(n.servingPairFile === undefined ? {} : { servingPairFile: n.servingPairFile }),
    },
    endpoints: [
      ...statsEndpoints(n.stats),
      ...(pods?.endpoints ?? []),
      ...(memoryQos === undefined ? [] : [memoryQosEndpoint(memoryQos.memoryQos)]),
      ...dashboardOf(n, ports),
    ],
    healthChecks: pods?.healthChecks ?? [],
    configz: () => kubeletConfigz({ ...n.facts(), stats: n.stats.describe(), metricsUrl: n.metricsUrl() }),
    metrics: ports.metrics,
    log: ports.log,
    clock: ports.clock,
    ...(api === undefined ? {} : { api }),
  })
}

function dashboardOf(n: ServedNode, ports: KubeletPorts): readonly Endpoint[] {
  const { linux, pods } = n
  const { live } = ports
  if (live === undefined) return []
  const { cgroupRoot } = n.facts().loaded.config.kubelet
  return kubeletLive({
    ...n,
    cgroups: linux?.cgroups,
    podRoots: linux === undefined ? [] : podPaths(linux.driver, cgroupRoot ?? '/').podRoots,
    memoryQos: n.memoryQos?.memoryQos,
    pods: pods === undefined ? undefined : () => pods.pods(),
    ports: { ...ports, live },
  })
}
