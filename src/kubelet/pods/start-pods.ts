// Puts the pod runner together for `keelson kubelet`: from the configuration and the facts of the node to a running
// runner with its health checks, and what its endpoints ask of it.
import type { EffectiveConfig } from '../../config/effective.js'
import type { LoadedConfig } from '../../config/load.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { bytes } from '../../core/units/bytes.js'
import { quantityValue } from '../../core/units/quantity.js'
import type { CgroupTree, ControlValues } from '../../ports/cgroups.js'
import type { Files } from '../../ports/files.js'
import type { CriClient } from '../../ports/runtime.js'
import type { ReadLog } from '../../serve/endpoints/container-logs.js'
import type { RunCommand } from '../../serve/endpoints/run.js'
import type { EventQueue } from '../events/event-queue.js'
import { createPodEvents } from '../events/pod-events.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { KubeletMemoryQos } from '../memory-qos.js'
import { parseResolvConf, type ResolvConf } from '../names/decide/resolv-conf.js'
import { readAllocatable } from '../node/allocatable.js'
import type { NodeFacts } from '../node/node-facts.js'
import type { NodeObjects } from '../objects/node-objects.js'
import { runCommand } from '../streams/exec.js'
import { readContainerLog } from '../streams/read-log.js'
import { createPodVolumes } from '../volumes/pod-volumes.js'
import type { PodContext } from './context.js'
import { createLimiter } from './run/limiter.js'
import { createNodeCgroups } from './run/node-cgroups.js'
import { createPlanner } from './run/planner.js'
import { removeLogLinks } from './run/prepare.js'
import { rotateLogs } from './run/rotate-logs.js'
import { type PodRunner, startPodRunner } from './run/runner.js'
import { readTerminationMessage } from './run/termination-message.js'
import { watchStaticPods } from './source/static-source.js'
import type { PodPaths } from './to-cri/names.js'
import { RuntimeView } from './view/runtime-view.js'

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
  /** Undefined in standalone mode. */
  readonly objects?: NodeObjects | undefined
  readonly ports: Pick<
    KubeletPorts,
    'files' | 'podHost' | 'volumeHost' | 'procfs' | 'nodeHost' | 'statsFiles' | 'clock' | 'log' | 'metrics'
  >
  /** Who keeps the levels above pods on cgroup v2; without it they are written here. */
  readonly memoryQos?: KubeletMemoryQos | undefined
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  readonly signal: AbortSignal
}

export interface RunningPods extends PodRunner {
  readonly readLog: ReadLog
  readonly runCommand: RunCommand
  removeLogLinks(): Promise<void>
}

/** Enough to keep two cores busy, few enough that each start is quick. */
const startsAtOnce = 8
const maxResolvConf = 64 * 1024
const maxHosts = 1024 * 1024

export const runsPods = ({ config }: Pick<LoadedConfig, 'config'>): boolean =>
  (config.kubelet.staticPodPath ?? '') !== ''

/** podsPerCore lowers maxPods and never raises it. */
export const podLimit = (
  { maxPods, podsPerCore }: Pick<EffectiveConfig['kubelet'], 'maxPods' | 'podsPerCore'>,
  cpus: number,
): number => (podsPerCore === 0 ? maxPods : Math.min(maxPods, podsPerCore * cpus))

/** Undefined without staticPodPath: then no pod of this runtime is ours to start or to end. */
export function startStaticPods(i: PodsInput): RunningPods | undefined {
  const { config, ports } = i
  const { kubelet } = config
  const path = kubelet.staticPodPath
  if (path === undefined || path === '') {
    ports.log.info('staticPodPath is not set: no pods are run')
    return undefined
  }
  const context = createContext(i)
  const runner = startPodRunner({
    context,
    wanted: watchStaticPods({
      path,
      nodeName: i.nodeName,
      rescanMs: kubelet.fileCheckFrequency,
      resize: config.keelson.staticPodResize,
      maxPods: podLimit(kubelet, i.node.capacity.cpus),
      digest: ports.podHost.digest,
      files: ports.files,
      clock: ports.clock,
      log: ports.log,
      signal: i.signal,
    }),
    syncMs: kubelet.syncFrequency,
    nodeCgroups: i.memoryQos?.nodeCgroups ?? createNodeCgroups(i.cgroups, context.planner),
    onChange: () => i.memoryQos?.memoryQos.notify(),
    signal: i.signal,
  })
  const rotation = rotateLogs({
    context,
    policy: { maxSize: quantityValue(kubelet.containerLogMaxSize), maxFiles: kubelet.containerLogMaxFiles },
    workers: kubelet.containerLogMaxWorkers,
    intervalMs: kubelet.containerLogMonitorInterval,
    signal: i.signal,
  })
  return {
    ...runner,
    done: Promise.all([runner.done, rotation, context.volumes.done]).then(() => undefined),
    readLog: (request, signal) => readContainerLog(request, runner, context, signal),
    runCommand: (request, signal) => runCommand(request, runner, context, signal),
    removeLogLinks: () => removeLogLinks(context),
  }
}

function createContext(i: PodsInput): PodContext {
  const { kubelet, process } = i.config
  const { rootDir } = i
  const { files, podHost: host, procfs, clock, log, metrics } = i.ports
  const paths: PodPaths = { rootDir, podLogsDir: kubelet.podLogsDir.replace(/\/+$/, '') }
  const given = (process['node-ip'] ?? '').split(',').filter((ip) => ip !== '')
  const timeoutMs = kubelet.runtimeRequestTimeout
  const planner = createPlanner({ ...i, swapCapacity: bytes(procfs.memInfo().get('SwapTotal') ?? 0n) })
  const shared = {
    host,
    volumeHost: i.ports.volumeHost,
    objects: i.objects,
    clock,
    log,
    paths,
    events: createPodEvents(i.events, log),
    allocatable: () => readAllocatable(i.config, rootDir, i.ports),
  }
  const podMemoryLimit = (spec: PodSpec) => memoryLimitOf(planner.podCgroup(spec).values)
  return {
    ...shared,
    volumes: createPodVolumes({
      c: { ...shared, podMemoryLimit },
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
    metrics,
    planner,
    identity: { rootDir, nodeName: i.nodeName, staticPodPath: kubelet.staticPodPath ?? '' },
    nodeName: i.nodeName,
    hostIPs: given.length > 0 ? given : host.addresses().slice(0, 1),
    runtimeName: i.runtimeName,
    driver: i.driver,
    seccompDefault: kubelet.seccompDefault,
    nodeResolvConf: () => readNodeResolvConf(kubelet.resolvConf, files),
    nodeHosts: () => readText('/etc/hosts', maxHosts, files),
    clusterDns: { servers: kubelet.clusterDNS ?? [], domain: kubelet.clusterDomain },
    timeoutMs,
    starts: createLimiter(startsAtOnce),
    pulls: createLimiter(kubelet.serializeImagePulls ? 1 : (kubelet.maxParallelImagePulls ?? startsAtOnce)),
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
