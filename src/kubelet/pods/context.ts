// What the parts of the pod runner share: the ways out, the facts of the node, and where things are.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { ResourceList } from '../../core/units/resource-list.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { ProbeCalls } from '../../ports/network/probe-calls.js'
import type { PodHost } from '../../ports/pod-host.js'
import type { ImageService, RuntimeService } from '../../ports/runtime.js'
import type { PodEvents } from '../events/pod-events.js'
import type { PullRate } from '../images/decide/pull-rate.js'
import type { PullMetrics } from '../images/pull-metrics.js'
import type { PullRecords } from '../images/pull-records.js'
import type { RegistryCredentials } from '../images/registry-credentials.js'
import type { ClusterDns, ResolvConf } from '../names/decide/resolv-conf.js'
import type { NodeObjects } from '../objects/node-objects.js'
import type { HandlerOf } from '../objects/runtime-classes.js'
import type { Prober } from '../probes/prober.js'
import type { VolumeContext } from '../volumes/context.js'
import type { PodVolumes } from '../volumes/pod-volumes.js'
import type { KubeletIdentity } from './decide/owner.js'
import type { Limiter } from './run/limiter.js'
import type { Planner } from './run/planner.js'
import type { PodPaths } from './to-cri/names.js'
import type { RuntimeView } from './view/runtime-view.js'

export interface PodContext {
  readonly runtime: RuntimeService
  readonly images: ImageService
  readonly view: RuntimeView
  readonly cgroups: CgroupTree
  readonly host: PodHost
  /** Config maps, secrets, services and tokens; undefined in standalone mode. */
  readonly objects: NodeObjects | undefined
  readonly volumeHost: VolumeContext['volumeHost']
  readonly volumes: PodVolumes
  /** Whether the runtime can make what is mounted below a mount read-only too. */
  readonly canMakeAllReadOnly: () => Promise<boolean>
  readonly handlerOf: HandlerOf
  readonly clock: Clock
  readonly log: Log
  readonly events: PodEvents
  readonly prober: Prober
  /** What hooks send over the network. */
  readonly calls: ProbeCalls
  /** `1.37`: what probes and hooks call themselves. */
  readonly release: string
  readonly metrics: Metrics
  readonly planner: Planner
  readonly paths: PodPaths
  readonly identity: KubeletIdentity
  readonly nodeName: string
  readonly hostIPs: readonly string[]
  /** Of the node, for limits that are not set. */
  readonly allocatable: () => Promise<ResourceList>
  readonly runtimeName: string
  readonly driver: CgroupDriver
  readonly seccompDefault: boolean
  /** Undefined: resolvConf is empty. */
  readonly nodeResolvConf: () => Promise<ResolvConf | undefined>
  /** /etc/hosts of the node. */
  readonly nodeHosts: () => Promise<string>
  readonly clusterDns: ClusterDns
  /** runtimeRequestTimeout. */
  readonly timeoutMs: number
  /** crashLoopBackOff.maxContainerRestartPeriod; undefined: 5 minutes. */
  readonly maxBackoffNanos: bigint | undefined
  /** Sandboxes and containers made at once. */
  readonly starts: Limiter
  readonly pulls: Limiter
  readonly pullRate: PullRate
  readonly pullMetrics: PullMetrics
  readonly credentials: RegistryCredentials
  /** Undefined: any pod may use any image of the node. */
  readonly pullRecords: PullRecords | undefined
}
