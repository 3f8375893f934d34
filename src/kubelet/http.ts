// What the kubelet serves over HTTPS, besides what every process has (`serve/common-endpoints.ts`). A part that this node
// does not have serves nothing: no pods without staticPodPath, no dashboard without its page.

import type { LiveCluster, Part } from '../core/dashboard/model.js'
import type { RelayUpgrade } from '../ports/http.js'
import type { KubeCalls } from '../ports/kube-calls.js'
import type { CriClient } from '../ports/runtime.js'
import type { ServedDashboard } from '../serve/dashboard/create-dashboard.js'
import type { Endpoint } from '../serve/endpoint.js'
import { containerLogs } from '../serve/endpoints/container-logs.js'
import { dashboardPage } from '../serve/endpoints/dashboard.js'
import { dashboardApi } from '../serve/endpoints/dashboard-api.js'
import { memoryQosEndpoint } from '../serve/endpoints/memory-qos.js'
import { probeMetrics } from '../serve/endpoints/metrics.js'
import { metricsCadvisor } from '../serve/endpoints/metrics-cadvisor.js'
import { metricsResource } from '../serve/endpoints/metrics-resource.js'
import { podEvents } from '../serve/endpoints/pod-events.js'
import { pods } from '../serve/endpoints/pods.js'
import { runInContainer } from '../serve/endpoints/run.js'
import { runningPods } from '../serve/endpoints/runningpods.js'
import { statsSummary } from '../serve/endpoints/stats-summary.js'
import { streams } from '../serve/endpoints/streams.js'
import type { Stats } from '../stats/create-stats.js'
import { type ConfigzFacts, kubeletConfigz } from './configz.js'
import { kubeletLive } from './dashboard-source.js'
import type { KubeletPorts } from './kubelet-ports.js'
import type { KubeletMemoryQos } from './memory-qos.js'
import type { InspectedNode } from './node/inspect-node.js'
import { podPaths } from './node/node-stats.js'
import type { RunningPods } from './pods/start-pods.js'
import { runningPodList } from './pods/view/running-pods.js'
import { kubeletServeSettings } from './serve-settings.js'

interface ServedNode {
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
  readonly cluster: () => Part<LiveCluster>
  /** The certificate of the cluster with its key; undefined: a self-signed one, or the one of the configuration. */
  readonly servingPairFile: string | undefined
  readonly signal: AbortSignal
}

const kubeletEndpoints = (
  { stats, pods: running, memoryQos }: ServedNode,
  ports: Pick<KubeletPorts, 'probeMetrics'>,
  dashboard: ServedDashboard | undefined,
  relay: RelayUpgrade,
  idleMs: number,
): readonly Endpoint[] => [
  statsSummary(stats),
  metricsResource(stats),
  metricsCadvisor(stats),
  ...(running === undefined
    ? []
    : [
        pods(() => running.pods()),
        probeMetrics(ports.probeMetrics),
        podEvents((namespace, pod) => running.events(namespace, pod)),
        runningPods(() => runningPodList(running.running())),
        containerLogs(running.readLog),
        ...runInContainer(running.runCommand),
        ...streams({ open: running.openStream, relay, idleMs }),
      ]),
  ...(memoryQos === undefined ? [] : [memoryQosEndpoint(memoryQos.memoryQos)]),
  ...(dashboard === undefined ? [] : [...dashboardApi(dashboard), ...dashboardPage(dashboard.page)]),
]

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
  const { api } = n
  return ports.serve({
    settings: {
      ...kubeletServeSettings(config, n.nodeName, n.rootDir),
      ...(n.servingPairFile === undefined ? {} : { servingPairFile: n.servingPairFile }),
    },
    endpoints: kubeletEndpoints(
      n,
      ports,
      dashboardOf(n, ports),
      ports.relayUpgrade,
      config.kubelet.streamingConnectionIdleTimeout,
    ),
    healthChecks: n.pods?.healthChecks ?? [],
    configz: () => kubeletConfigz({ ...n.facts(), stats: n.stats.describe(), metricsUrl: n.metricsUrl() }),
    metrics: ports.metrics,
    log: ports.log,
    clock: ports.clock,
    ...(api === undefined ? {} : { api }),
  })
}

function dashboardOf(n: ServedNode, ports: KubeletPorts): ServedDashboard | undefined {
  const { linux, pods } = n
  const { live } = ports
  if (live === undefined) return undefined
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
