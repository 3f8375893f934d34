// Memory QoS of the kubelet: from configuration and node facts to one MemoryQos that the pod runner calls for the levels above
// its pods. Values of pods and containers at creation are the runner's; everything later is reconciled here.
import type { EffectiveConfig } from '../config/effective.js'
import { resourceListOf } from '../config/effective.js'
import { type CgroupDriver, formatCgroupPath } from '../core/cgroup/name.js'
import { podCgroupName } from '../core/cgroup/pod-cgroup.js'
import { keelsonError } from '../core/errors.js'
import { planMemoryQos, type TargetsInput } from '../core/memory-qos/targets.js'
import type { PodResources } from '../core/pod/pod.js'
import { qosClassOf } from '../core/pod/qos-class.js'
import { checkKernel } from '../core/release/kernel-check.js'
import { openFoundValues } from '../memory-qos/found-values.js'
import { createMemoryQos, type MemoryQos } from '../memory-qos/memory-qos.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { CriClient } from '../ports/runtime.js'
import type { EventQueue } from './events/event-queue.js'
import type { KubeletPorts } from './kubelet-ports.js'
import type { NodeFacts } from './node/node-facts.js'
import type { NodeCgroups } from './pods/run/node-cgroups.js'

interface KubeletMemoryQosInput {
  readonly config: EffectiveConfig
  readonly node: NodeFacts
  /** --root-dir without links. */
  readonly rootDir: string
  readonly driver: CgroupDriver
  readonly runtime: CriClient
  readonly cgroups: CgroupTree
  readonly events: EventQueue | undefined
  readonly ports: Pick<KubeletPorts, 'clock' | 'log' | 'metrics' | 'files' | 'podHost' | 'procfs'>
  readonly signal: AbortSignal
}

export interface KubeletMemoryQos {
  readonly memoryQos: MemoryQos
  readonly nodeCgroups: NodeCgroups
}

/** Undefined on cgroup v1 and without cgroups per QoS class: there is nothing to keep. */
export async function createKubeletMemoryQos(
  i: KubeletMemoryQosInput,
): Promise<KubeletMemoryQos | undefined> {
  const { cgroups, config, ports, signal } = i
  if (i.node.cgroupVersion === 1 || !config.kubelet.cgroupsPerQOS) return undefined
  const node = nodeInput(i)
  refuseMissingReserved(node, cgroups)
  const pods = new KnownPods(i)
  const { enabled, factor, policy } = config.memoryQos
  ports.log.info('Memory QoS', { gate: enabled, memoryThrottlingFactor: factor ?? 'unset', policy })
  const kernel = checkKernel({ osrelease: i.node.kernel, gate: enabled, cgroupVersion: 2 })
  const memoryQos = createMemoryQos({
    cgroups,
    runtime: i.runtime.runtime,
    clock: ports.clock,
    log: ports.log,
    metrics: ports.metrics,
    timeoutMs: config.kubelet.runtimeRequestTimeout,
    ownsOtherFiles: ({ level }) => level !== 'pod',
    found: await openReservedNotes(i),
    isNoted: ({ level }) => level === 'reserved',
    // Upstream gives a container its values when it is created or resized, and not because settings have changed.
    keepsFound: ({ level }) => config.profile === 'upstream' && level === 'container',
    event: ({ pod, ...event }) =>
      i.events?.record({ ...event, ...(pod === undefined ? {} : { involved: { kind: 'Pod', ...pod } }) }),
    node: () => node,
    pods: () => pods.now(),
    ...(kernel.kind === 'livelock-risk' ? { kernelMessage: kernel.message } : {}),
    recursiveProtection: isRecursive(ports),
    signal,
  })
  let isSetUp = false
  return {
    memoryQos,
    nodeCgroups: {
      async apply(specs) {
        const changed = pods.want(specs.map((spec) => spec.pod))
        if (!isSetUp) {
          // What an earlier life of us left behind goes from the bottom, before the levels above are touched.
          await memoryQos.passNow()
          await memoryQos.setUpNode()
          isSetUp = true
        } else await memoryQos.coverPods()
        if (changed) memoryQos.notify()
      },
    },
  }
}

function nodeInput({ config, driver, node }: KubeletMemoryQosInput): Omit<TargetsInput, 'pods'> {
  const { kubelet } = config
  return {
    memoryQos: { ...config.memoryQos, cgroupVersion: node.cgroupVersion },
    driver,
    cgroupRoot: kubelet.cgroupRoot ?? '/',
    cgroupsPerQOS: kubelet.cgroupsPerQOS,
    enforceNodeAllocatable: kubelet.enforceNodeAllocatable,
    reserved: {
      amounts: {
        'kube-reserved': resourceListOf(kubelet.kubeReserved),
        'system-reserved': resourceListOf(kubelet.systemReserved),
      },
      cgroups: {
        'kube-reserved': kubelet.kubeReservedCgroup ?? '',
        'system-reserved': kubelet.systemReservedCgroup ?? '',
      },
    },
    node: {
      memoryCapacity: node.capacity.memory,
      allocatableMemory: node.allocatable.forFormula,
      pageSize: node.pageSize,
      cpuQuota: {
        enforced: kubelet.cpuCFSQuota,
        periodUs: BigInt(Math.round(kubelet.cpuCFSQuotaPeriod * 1000)),
      },
      swap: { behavior: kubelet.memorySwap.swapBehavior, capacity: undefined },
      singleProcessOOMKill: kubelet.singleProcessOOMKill,
      runtimeWeightCurve: 'linear',
      kubepodsMilliCpu: BigInt(node.capacity.cpus) * 1000n,
      podPidsLimit: BigInt(kubelet.podPidsLimit),
    },
  }
}

/** Upstream's rule: the administrator makes these cgroups, and a missing one ends the start. */
function refuseMissingReserved(node: Omit<TargetsInput, 'pods'>, cgroups: CgroupTree): void {
  const missing = planMemoryQos({ ...node, pods: [] }).targets.find(
    ({ level, path }) => level === 'reserved' && !cgroups.exists(path),
  )
  if (missing === undefined) return
  throw keelsonError(
    'memory-qos.reserved-missing',
    `enforce ${missing.title}: the cgroup ${missing.path} does not exist; create it, or take ${missing.title} out of enforceNodeAllocatable`,
    { path: missing.path },
  )
}

const maxIdBytes = 128

async function openReservedNotes({ rootDir, ports }: KubeletMemoryQosInput) {
  const bootId = await ports.files.read('/proc/sys/kernel/random/boot_id', maxIdBytes)
  await ports.podHost.ensureDirectory(rootDir, { mode: 0o750 })
  return openFoundValues({
    files: ports.files,
    path: `${rootDir}/keelson-reserved-cgroups.json`,
    bootId: new TextDecoder().decode(bootId ?? new Uint8Array()).trim(),
  })
}

const isRecursive = ({ procfs }: Pick<KubeletPorts, 'procfs'>): boolean =>
  (procfs.mountInfo() ?? []).some(
    (mount) => mount.fsType === 'cgroup2' && mount.superOptions.includes('memory_recursiveprot'),
  )

/** Wanted pods, and those on their way out: a pod counts until its cgroup has gone, so that its protection lasts. */
class KnownPods {
  private wanted: readonly PodResources[] | undefined
  private readonly leaving = new Map<string, PodResources>()

  constructor(private readonly i: Pick<KubeletMemoryQosInput, 'cgroups' | 'config' | 'driver'>) {}

  /** Whether a pod that was wanted before has changed or is not wanted any more. */
  want(pods: readonly PodResources[]): boolean {
    const before = this.wanted ?? []
    for (const pod of before) this.leaving.set(pod.uid, pod)
    for (const pod of pods) this.leaving.delete(pod.uid)
    this.wanted = pods
    return before.some((pod) => !pods.includes(pod))
  }

  now(): readonly PodResources[] | undefined {
    if (this.wanted === undefined) return undefined
    for (const [uid, pod] of this.leaving)
      if (!this.i.cgroups.exists(this.pathOf(pod))) this.leaving.delete(uid)
    return [...this.wanted, ...this.leaving.values()]
  }

  private pathOf(pod: PodResources): string {
    const { config, driver } = this.i
    const root = config.kubelet.cgroupRoot ?? '/'
    return formatCgroupPath(podCgroupName(pod.uid, qosClassOf(pod), root), driver)
  }
}
