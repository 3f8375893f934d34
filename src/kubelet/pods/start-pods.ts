// Puts the pod runner together for `keelson kubelet`: from the configuration and the facts of the node to a running
// runner with its health checks, and what its endpoints ask of it.
import type { EffectiveConfig } from '../../config/effective.js'
import type { LoadedConfig } from '../../config/load.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { KubeNode } from '../../core/kube/objects.js'
import { nodes, objectPath } from '../../core/kube/path.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { isGateEnabled } from '../../core/release/gates.js'
import { bytes } from '../../core/units/bytes.js'
import { quantityValue } from '../../core/units/quantity.js'
import type { CgroupTree, ControlValues } from '../../ports/cgroups.js'
import type { Files } from '../../ports/files.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { CriClient } from '../../ports/runtime.js'
import type { ReadLog } from '../../serve/endpoints/container-logs.js'
import type { PodEventJson } from '../../serve/endpoints/pod-events.js'
import type { RunCommand } from '../../serve/endpoints/run.js'
import type { OpenStream } from '../../serve/endpoints/streams.js'
import { createAdmission } from '../admission/admit-pods.js'
import { preemptPods } from '../admission/preempt.js'
import type { EventQueue } from '../events/event-queue.js'
import { createPodEvents, type PodEvents } from '../events/pod-events.js'
import { removeDeadContainers } from '../gc/dead-containers.js'
import type { CredentialProviders } from '../images/credential-providers.js'
import { createPullRate } from '../images/decide/pull-rate.js'
import { createPullMetrics } from '../images/pull-metrics.js'
import { createPullRecords, prunePullRecords } from '../images/pull-records.js'
import { createRegistryCredentials } from '../images/registry-credentials.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { KubeletMemoryQos } from '../memory-qos.js'
import { parseResolvConf, type ResolvConf } from '../names/decide/resolv-conf.js'
import { readAllocatable } from '../node/allocatable.js'
import { defaultLabels } from '../node/decide/node-labels.js'
import type { NodeFacts } from '../node/node-facts.js'
import type { OwnNode } from '../node/own-node.js'
import type { NodeObjects } from '../objects/node-objects.js'
import { createHandlerOf } from '../objects/runtime-classes.js'
import { startProber } from '../probes/prober.js'
import { runCommand } from '../streams/exec.js'
import { createOpenStream } from '../streams/open-stream.js'
import { readContainerLog } from '../streams/read-log.js'
import { createPodVolumes } from '../volumes/pod-volumes.js'
import type { PodContext } from './context.js'
import type { AdmissionHandler } from './decide/wanted-pod.js'
import { MirrorPods } from './mirror/mirror-pods.js'
import { createLimiter } from './run/limiter.js'
import { createNodeCgroups } from './run/node-cgroups.js'
import { createPlanner } from './run/planner.js'
import { removeLogLinks } from './run/prepare.js'
import { rotateLogs } from './run/rotate-logs.js'
import { type PodRunner, startPodRunner } from './run/runner.js'
import { readTerminationMessage } from './run/termination-message.js'
import { ApiSource } from './source/api-source.js'
import { mergeSources } from './source/merge-sources.js'
import { watchStaticPods } from './source/static-source.js'
import { StatusReporter } from './status/report-statuses.js'
import type { PodPaths } from './to-cri/names.js'
import { RuntimeView } from './view/runtime-view.js'

/** What running pods needs of the cluster. */
interface ClusterPods {
  readonly api: KubeApi
  readonly own: Pick<OwnNode, 'current'>
}

interface PodsInput {
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

export interface RunningPods extends PodRunner {
  readonly readLog: ReadLog
  readonly runCommand: RunCommand
  readonly openStream: OpenStream
  /** Undefined: there is no such pod. */
  events(namespace: string, pod: string): readonly PodEventJson[] | undefined
  removeLogLinks(): Promise<void>
  /** Of pods that have ended for good. */
  removeDeadContainers(signal: AbortSignal): Promise<void>
}

/** Enough to keep two cores busy, few enough that each start is quick. */
const startsAtOnce = 8
const maxResolvConf = 64 * 1024
const maxHosts = 1024 * 1024

/** Pods come from a directory, from an API server, or from both. */
export const runsPods = ({ config }: Pick<LoadedConfig, 'config'>): boolean =>
  (config.kubelet.staticPodPath ?? '') !== '' || config.process.kubeconfig !== undefined

/** podsPerCore lowers maxPods and never raises it. */
export const podLimit = (
  { maxPods, podsPerCore }: Pick<EffectiveConfig['kubelet'], 'maxPods' | 'podsPerCore'>,
  cpus: number,
): number => (podsPerCore === 0 ? maxPods : Math.min(maxPods, podsPerCore * cpus))

/** Undefined without any source: then no pod of this runtime is ours to start or to end. */
export function startPods(i: PodsInput): RunningPods | undefined {
  const { config, ports, cluster, signal } = i
  const { kubelet } = config
  const path = kubelet.staticPodPath ?? ''
  if (path === '' && cluster === undefined) {
    ports.log.info('neither staticPodPath nor --kubeconfig is set: no pods are run')
    return undefined
  }
  const events = createPodEvents({ ...ports, queue: i.events })
  const context = createContext(i, events)
  const { clock, log } = ports
  const apiPods =
    cluster === undefined
      ? undefined
      : new ApiSource({
          api: cluster.api,
          clock,
          nodeName: i.nodeName,
          onMirror: (uid) => {
            mirrors?.notify()
            statuses?.notify(uid)
          },
        })
  const mirrors =
    cluster === undefined || apiPods === undefined
      ? undefined
      : new MirrorPods({
          api: cluster.api,
          node: () => cluster.own.current(),
          statics: () => runner.statics(),
          mirrors: () => apiPods.mirrors(),
          complete: () => runner.complete(),
          document: (uid) => runner.document(uid),
          clock,
          log,
        })
  const statuses =
    cluster === undefined || apiPods === undefined
      ? undefined
      : new StatusReporter({
          api: cluster.api,
          known: apiPods,
          report: (uid) => runner.report(mirrors?.staticUid(uid) ?? uid),
          clock,
          log,
        })
  const runner = startPodRunner({
    context,
    wanted: mergeSources(
      { files: path === '' ? undefined : staticPods(path, i), api: apiPods?.watch(signal) },
      signal,
    ),
    admission: [...(i.admissionHandlers ?? []), admissionRules(i, context, () => runner)],
    syncMs: kubelet.syncFrequency,
    nodeCgroups: i.memoryQos?.nodeCgroups ?? createNodeCgroups(i.cgroups, context.planner),
    onChange: () => i.memoryQos?.memoryQos.notify(),
    onPods: () => mirrors?.notify(),
    onStatus: (uid) => statuses?.notify(mirrors?.mirrorUid(uid) ?? uid),
    signal,
  })
  const rotation = rotateLogs({
    context,
    policy: { maxSize: quantityValue(kubelet.containerLogMaxSize), maxFiles: kubelet.containerLogMaxFiles },
    workers: kubelet.containerLogMaxWorkers,
    intervalMs: kubelet.containerLogMonitorInterval,
    signal,
  })
  return {
    ...runner,
    done: Promise.all([
      runner.done,
      rotation,
      prunePullRecords(context, signal),
      context.volumes.done,
      apiPods?.follow(signal),
      statuses?.run(signal),
      mirrors?.run(signal),
    ]).then(() => undefined),
    readLog: (request, stop) => readContainerLog(request, runner, context, stop),
    openStream: createOpenStream(runner, context),
    events: (namespace, name) => {
      const found = runner
        .pods()
        .find((pod) => pod.metadata.namespace === namespace && pod.metadata.name === name)
      return found && events.recent(found.metadata.uid)
    },
    runCommand: (request, stop) => runCommand(request, runner, context, stop),
    removeLogLinks: () => removeLogLinks(context),
    removeDeadContainers: (ending) => removeDeadContainers(runner.finished(), context, ending),
  }
}

const admissionRules = (
  { config, cluster, nodeName, ports, signal }: PodsInput,
  context: PodContext,
  runner: () => PodRunner,
): AdmissionHandler => {
  const { os } = ports.host
  const { api, own } = cluster ?? {}
  return createAdmission({
    ownLabels: { name: nodeName, labels: defaultLabels(nodeName, os, ports.nodeHost.architecture) },
    os,
    allowedUnsafeSysctls: config.kubelet.allowedUnsafeSysctls ?? [],
    files: ports.files,
    allocatable: context.allocatable,
    supplementalGroupsPolicy: async () =>
      (await context.runtime.status({}, { timeoutMs: context.timeoutMs, signal })).features
        ?.supplementalGroupsPolicy ?? false,
    node: () => own?.current(),
    fetchNode:
      api === undefined
        ? undefined
        : (stop) => api.get<KubeNode>(objectPath(nodes, { name: nodeName }), { signal: stop }),
    preempt: (pods) => preemptPods(pods, runner(), context),
    log: ports.log,
    metrics: ports.metrics,
  })
}

const staticPods = (path: string, { config, ports, node, nodeName, signal }: PodsInput) =>
  watchStaticPods({
    path,
    nodeName,
    rescanMs: config.kubelet.fileCheckFrequency,
    resize: config.keelson.staticPodResize,
    maxPods: podLimit(config.kubelet, node.capacity.cpus),
    digest: ports.podHost.digest,
    files: ports.files,
    clock: ports.clock,
    log: ports.log,
    signal,
  })

function createContext(i: PodsInput, events: PodEvents): PodContext {
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
