// What is read from this machine's kernel: the node, the pods' cgroups, and the exact seconds beside the runtime's.
import { parsePids } from '../../core/kernel-text/words.js'
import type { CollectContext } from '../collectors/collector.js'
import { readCpuSeconds } from '../collectors/cpu.js'
import { createDevices } from '../collectors/device.js'
import { createHugePageSizes } from '../collectors/hugetlb.js'
import type { Inventory, PodInfo } from '../runtime/inventory.js'
import type { CriMetricsInput } from '../runtime/metrics.js'
import type { StatsOptions } from '../stats-options.js'
import type { Usage } from '../usage.js'
import { type CgroupLocator, createCgroupLocator } from './locator.js'
import { createNodeReader, type NodeReading } from './node-reader.js'
import { type CgroupSource, createCgroupSource } from './source.js'

export interface HostSource {
  readonly locator: CgroupLocator
  readonly source: CgroupSource
  readonly node: { read(): NodeReading }
  /** The pod has the node's own network; some runtimes then report the node's traffic as the pod's. */
  hasHostNetwork(pod: PodInfo): boolean
  /** Cgroups by container id, or of a pod by the id of its sandbox. */
  lookUp(inventory: Inventory): Pick<CriMetricsInput, 'exactCpu' | 'cgroupPath'>
}

const MAX_KEPT = 4_096

type HostOptions = StatsOptions & { readonly cgroups: NonNullable<StatsOptions['cgroups']> }

export function createHost(
  o: HostOptions,
  deviceName: (numbers: string) => string | undefined,
  runtimeUsage: (containerId: string) => Usage | undefined,
  isOpaque: (pod: PodInfo) => boolean,
): HostSource {
  const { cgroups, procfs, clock } = o
  const nowNanos = (): bigint => clock.nowNanos()
  const countsTasks = o.switches?.enable?.includes('container_tasks_state') === true
  const context: CollectContext = {
    cgroups,
    procfs,
    device: createDevices(deviceName),
    hugePageSizes: createHugePageSizes({ cgroups }),
    ...(countsTasks ? { taskStates: (pid) => procfs.taskStates(pid) } : {}),
  }
  const locator = createCgroupLocator({ cgroups, podRoots: o.podRoots ?? ['/kubepods', '/kubepods.slice'] })
  /** A sandbox never changes its network, so one look is enough. */
  const hostNetworks = new Map<string, boolean>()
  return {
    locator,
    source: createCgroupSource({
      context,
      procfs,
      locator,
      nowNanos,
      isOpaque,
      runtimeUsage,
    }),
    node: createNodeReader({
      context,
      procfs,
      nowNanos,
      hostPid: o.hostPid ?? 1,
      systemContainers: o.systemContainers ?? {},
      slices: o.slices ?? [],
      hugepageAware: o.hugepageAware === true,
      startedAtNanos: nowNanos(),
    }),
    hasHostNetwork(pod) {
      const known = hostNetworks.get(pod.sandboxId)
      if (known !== undefined) return known
      const { sandbox } = locator.pod(pod)
      const procs = sandbox === undefined ? undefined : cgroups.read(sandbox, 'cgroup.procs')
      const [pid] = procs === undefined ? [] : parsePids(procs)
      if (pid === undefined) return false
      if (hostNetworks.size >= MAX_KEPT) hostNetworks.clear()
      const has = procfs.networkNamespace(pid) === procfs.networkNamespace()
      hostNetworks.set(pod.sandboxId, has)
      return has
    },
    lookUp({ pods }) {
      const podOf = new Map<string, PodInfo>()
      for (const pod of pods) for (const { id } of pod.containers) podOf.set(id, pod)
      const bySandbox = new Map(pods.map((pod) => [pod.sandboxId, pod]))
      return {
        cgroupPath(id) {
          const pod = bySandbox.get(id)
          return pod === undefined ? locator.container(id) : locator.pod(pod).pod
        },
        exactCpu(id) {
          const pod = podOf.get(id)
          const path = pod === undefined || isOpaque(pod) ? undefined : locator.container(id)
          if (path === undefined) return undefined
          const timeNanos = nowNanos()
          const seconds = readCpuSeconds(path, context)
          return seconds === undefined ? undefined : { timeNanos, ...seconds }
        },
      }
    },
  }
}
