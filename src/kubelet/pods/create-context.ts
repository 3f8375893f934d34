// What every part of the pod runner works with, made once from the configuration and the facts of the node.
import type { EffectiveConfig } from '../../config/effective.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { isGateEnabled } from '../../core/release/gates.js'
import { bytes } from '../../core/units/bytes.js'
import type { CgroupTree, ControlValues } from '../../ports/cgroups.js'
import type { Files } from '../../ports/files.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { CriClient } from '../../ports/runtime.js'
import type { EventQueue } from '../events/event-queue.js'
import type { PodEvents } from '../events/pod-events.js'
import type { CredentialProviders } from '../images/credential-providers.js'
import { createPullRate } from '../images/decide/pull-rate.js'
import { createPullMetrics } from '../images/pull-metrics.js'
import { createPullRecords } from '../images/pull-records.js'
import { createRegistryCredentials } from '../images/registry-credentials.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { KubeletMemoryQos } from '../memory-qos.js'
import { parseResolvConf, type ResolvConf } from '../names/decide/resolv-conf.js'
import { readAllocatable } from '../node/allocatable.js'
import type { NodeFacts } from '../node/node-facts.js'
import type { OwnNode } from '../node/own-node.js'
import type { NodeObjects } from '../objects/node-objects.js'
import { createHandlerOf } from '../objects/runtime-classes.js'
import { startProber } from '../probes/prober.js'
import { createPodVolumes } from '../volumes/pod-volumes.js'
import type { PodContext } from './context.js'
import type { AdmissionHandler } from './decide/wanted-pod.js'
import { createLimiter } from './run/limiter.js'
import { createPlanner } from './run/planner.js'
import { readTerminationMessage } from './run/termination-message.js'
import type { PodPaths } from './to-cri/names.js'
import { RuntimeView } from './view/runtime-view.js'

/** What running pods needs of the cluster. */
interface ClusterPods {
  readonly api: KubeApi
  readonly own: Pick<OwnNode, 'current'>
}

export interface PodsInput {
  readonly config: EffectiveConfig
  readonly node: NodeFacts
  readonly nodeName: string
  /** --root-dir without links. */
  readonly rootDir: string
  readonly driver: CgroupDriver
  readonly runtimeName: string
  readonly runtime: CriClient
  readonly images: CriClient
  readonly cgroups: CgroupTree
  /** Undefined: no credential provider plugins are configured. */
  readonly credentialProviders: CredentialProviders | undefined
  /** Undefined in standalone mode. */
  readonly cluster: ClusterPods | undefined
  /** Undefined in standalone mode. */
  readonly objects?: NodeObjects | undefined
  readonly ports: Pick<
    KubeletPorts,
    | 'files'
    | 'podHost'
    | 'volumeHost'
    | 'host'
    | 'procfs'
    | 'nodeHost'
    | 'statsFiles'
    | 'clock'
    | 'log'
    | 'metrics'
    | 'probeMetrics'
    | 'probeCalls'
  >
  /** Who keeps the levels above pods on cgroup v2; without it they are written here. */
  readonly memoryQos?: KubeletMemoryQos | undefined
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  /** Parts of the kubelet that may refuse pods, in the order in which they are asked. */
  readonly admissionHandlers?: readonly AdmissionHandler[]
  readonly signal: AbortSignal
}

/** Enough to keep two cores busy, few enough that each start is quick. */
const startsAtOnce = 8
const maxResolvConf = 64 * 1024
const maxHosts = 1024 * 1024

export function createContext(i: PodsInput, events: PodEvents): PodContext {
  const { kubelet, process } = i.config
  const { rootDir } = i
  const { files, podHost: host, procfs, clock, log, metrics } = i.ports
  const paths: PodPaths = { rootDir, podLogsDir: kubelet.podLogsDir.replace(/\/+$/, '') }
  const given = (process['node-ip'] ?? '').split(',').filter((ip) => ip !== '')
  const ownIPs = given.length > 0 ? given : host.addresses().slice(0, 1)
  const timeoutMs = kubelet.runtimeRequestTimeout
  const hostIPs = (): readonly string[] => {
    const addresses = i.cluster?.own.current()?.status?.addresses ?? []
    const internal = addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address)
    return internal.length > 0 ? internal : ownIPs
  }
  const { probeCalls: calls, probeMetrics } = i.ports
  const release = `1.${i.config.version.minor}`
  const { runtime } = i.runtime
  const planner = createPlanner({ ...i, swapCapacity: bytes(procfs.memInfo().get('SwapTotal') ?? 0n) })
  const shared = {
    host,
    volumeHost: i.ports.volumeHost,
    objects: i.objects,
    clock,
    log,
    paths,
    events,
    allocatable: () => readAllocatable(i.config, rootDir, i.ports),
  }
  const podMemoryLimit = (spec: PodSpec) => memoryLimitOf(planner.podCgroup(spec).values)
  return {
    ...shared,
    volumes: createPodVolumes({
      c: { ...shared, podMemoryLimit, nodeLabels: () => i.cluster?.own.current()?.metadata?.labels ?? {} },
      syncMs: kubelet.syncFrequency,
      signal: i.signal,
    }),
    canMakeAllReadOnly: () => canMakeAllReadOnly(i.runtime, timeoutMs, i.signal),
    runtime: i.runtime.runtime,
    images: i.images.image,
    view: new RuntimeView({
      runtime: i.runtime.runtime,
      states: i.runtime.states,
      clock,
      timeoutMs,
      readMessage: (container, failed, logPath) =>
        readTerminationMessage(container, failed, logPath, paths, host),
    }),
    cgroups: i.cgroups,
    handlerOf: createHandlerOf(i.cluster?.api),
    prober: startProber({
      runtime,
      calls,
      release,
      clock,
      events,
      metrics: probeMetrics,
      hostIPs,
      signal: i.signal,
    }),
    calls,
    release,
    metrics,
    planner,
    identity: {
      rootDir,
      nodeName: i.nodeName,
      staticPodPath: kubelet.staticPodPath ?? '',
      hasApi: i.cluster !== undefined,
    },
    nodeName: i.nodeName,
    get hostIPs() {
      return hostIPs()
    },
    runtimeName: i.runtimeName,
    driver: i.driver,
    seccompDefault: kubelet.seccompDefault,
    nodeResolvConf: () => readNodeResolvConf(kubelet.resolvConf, files),
    nodeHosts: () => readText('/etc/hosts', maxHosts, files),
    clusterDns: { servers: kubelet.clusterDNS ?? [], domain: kubelet.clusterDomain },
    timeoutMs,
    maxBackoffNanos: BigInt(kubelet.crashLoopBackOff.maxContainerRestartPeriod) * 1_000_000n,
    starts: createLimiter(startsAtOnce),
    pulls: createLimiter(kubelet.serializeImagePulls ? 1 : (kubelet.maxParallelImagePulls ?? startsAtOnce)),
    pullRate: createPullRate(kubelet.registryPullQPS, kubelet.registryBurst),
    pullMetrics: createPullMetrics(metrics),
    credentials: createRegistryCredentials({
      objects: i.objects,
      providers: i.credentialProviders,
      nodeFile: `${rootDir}/config.json`,
      files,
      digest: host.digest,
      events,
      log,
    }),
    pullRecords: isGateEnabled(i.config.gates, 'KubeletEnsureSecretPulledImages')
      ? createPullRecords({
          policy: kubelet.imagePullCredentialsVerificationPolicy,
          allowlist: kubelet.preloadedImagesVerificationAllowlist,
          directory: `${rootDir}/image_manager`,
          digest: host.digest,
          files,
          host,
          clock,
          log,
        })
      : undefined,
  }
}

/** An empty path means: pods inherit nothing. */
const readNodeResolvConf = async (
  path: string,
  files: Pick<Files, 'read'>,
): Promise<ResolvConf | undefined> =>
  path === '' ? undefined : parseResolvConf(await readText(path, maxResolvConf, files))

const readText = async (path: string, limit: number, files: Pick<Files, 'read'>): Promise<string> =>
  new TextDecoder().decode((await files.read(path, limit)) ?? new Uint8Array())

/** Undefined: the pod's cgroup has no limit of memory. */
function memoryLimitOf(values: ControlValues): bigint | undefined {
  const text = values['memory.max'] ?? values['memory.limit_in_bytes']
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined
}

/** Asked when a mount wants it: few do. */
async function canMakeAllReadOnly(
  { runtime }: Pick<CriClient, 'runtime'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { runtimeHandlers } = await runtime.status({}, { timeoutMs, signal })
  return runtimeHandlers.find(({ name }) => name === '')?.features?.recursiveReadOnlyMounts === true
}
