// What this machine's kernel knows: the node's own values, where the cgroups of pods are, and for the runtime's metrics the
// exact CPU time, the network namespace of a pod, and what its wrong values are replaced by.
import { parsePids } from '../../core/kernel-text/words.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { CollectContext } from '../collectors/collector.js'
import { readCpuSeconds } from '../collectors/cpu.js'
import { createDevices } from '../collectors/device.js'
import { createHugePageSizes } from '../collectors/hugetlb.js'
import { type NetworkValues, networkValues } from '../collectors/network.js'
import type { Inventory, PodInfo } from '../runtime/inventory.js'
import type { CriMetricsInput } from '../runtime/metrics-subjects.js'
import type { StatsOptions } from '../stats-options.js'
import { type CgroupValues, readCgroup } from './container-stats.js'
import { type CgroupLocator, createCgroupLocator } from './locator.js'
import { createNodeReader, type NodeReader } from './node-reader.js'

export interface HostSource {
  /** For collectors. */
  readonly context: CollectContext
  readonly locator: CgroupLocator
  readonly node: NodeReader
  /** The pod has the node's own network; some runtimes then report the node's traffic as the pod's. */
  hasHostNetwork(pod: PodInfo): boolean
  /** By container id, or for a pod by the id of its sandbox. */
  cgroupsOf(inventory: Inventory): Pick<CriMetricsInput, 'exactCpu' | 'cgroupPath'>
  /** All values of a container or a pod, read now. Undefined: no cgroup says anything about it. */
  valuesOf(inventory: Inventory): (id: string) => CgroupValues | undefined
  /** The interfaces of the pod's own network namespace. Undefined: it has none, or no process to look through. */
  networkOf(pod: PodInfo): NetworkValues | undefined
}

const MAX_CACHED = 4_096

interface HostOptions extends StatsOptions {
  readonly cgroups: NonNullable<StatsOptions['cgroups']>
  readonly deviceName: (majorMinor: string) => string | undefined
  readonly isOpaque: (pod: PodInfo) => boolean
}

export function createHost(o: HostOptions): HostSource {
  const { cgroups, procfs, clock, isOpaque } = o
  const nowNanos = (): bigint => clock.nowNanos()
  const countsTasks = o.switches?.enable?.includes('container_tasks_state') === true
  const context: CollectContext = {
    cgroups,
    procfs,
    device: createDevices(o.deviceName),
    hugePageSizes: createHugePageSizes({ cgroups }),
    asCadvisor: o.asCadvisor === true,
    ...(countsTasks ? { taskStates: (pid) => procfs.taskStates(pid) } : {}),
  }
  const locator = createCgroupLocator({ cgroups, podRoots: o.podRoots ?? ['/kubepods', '/kubepods.slice'] })
  /** A sandbox never changes its network, so one look is enough. */
  const hostNetworks = new Map<string, boolean>()
  const firstPidOf = (pod: PodInfo): number | undefined => {
    const { sandbox } = locator.pod(pod)
    const procs = sandbox === undefined ? undefined : cgroups.read(sandbox, 'cgroup.procs')
    return procs === undefined ? undefined : parsePids(procs)[0]
  }
  function hasHostNetwork(pod: PodInfo): boolean {
    const known = hostNetworks.get(pod.sandboxId)
    if (known !== undefined) return known
    const pid = firstPidOf(pod)
    if (pid === undefined) return false
    if (hostNetworks.size >= MAX_CACHED) hostNetworks.clear()
    const has = procfs.networkNamespace(pid) === procfs.networkNamespace()
    hostNetworks.set(pod.sandboxId, has)
    return has
  }
  return {
    context,
    locator,
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
    hasHostNetwork,
    networkOf(pod) {
      const pid = isOpaque(pod) || hasHostNetwork(pod) ? undefined : firstPidOf(pod)
      const interfaces = pid === undefined ? undefined : procfs.netDev(pid)
      return interfaces === undefined ? undefined : networkValues(interfaces)
    },
    valuesOf({ pods }) {
      const paths = new Map<string, readonly [path: CgroupPath | undefined, scope: 'container' | 'pod']>()
      for (const pod of pods) {
        if (isOpaque(pod)) continue
        paths.set(pod.sandboxId, [locator.pod(pod).pod, 'pod'])
        for (const { id } of pod.containers) paths.set(id, [locator.container(id), 'container'])
      }
      return (id) => {
        const [path, scope] = paths.get(id) ?? []
        return path === undefined || scope === undefined
          ? undefined
          : readCgroup(path, scope, context, nowNanos)
      }
    },
    cgroupsOf({ pods }) {
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
