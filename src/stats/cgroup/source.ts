// The cgroup source: one sweep over the cgroups of the pods that the runtime lists. Every cgroup gets the time of its
// own reading; a container that has gone meanwhile is counted and left out.
import { inTurns } from '../../core/units/turns.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CollectContext } from '../collectors/collector.js'
import { type NetworkValues, networkValues } from '../collectors/network.js'
import { processes } from '../collectors/processes.js'
import { type CpuHistory, createCpuHistory } from '../cpu-rate.js'
import type { ContainerInfo, Inventory, PodInfo } from '../runtime/inventory.js'
import type { ContainerSample, PodSample, StatsSample } from '../sample.js'
import { noUsage, sumUsage } from '../sum-usage.js'
import type { Usage } from '../usage.js'
import { type CgroupValues, cpuReading, networkUsage, readCgroup, usageFrom } from './container-stats.js'
import type { CgroupLocator } from './locator.js'

interface ContainerValues {
  readonly info: ContainerInfo
  readonly path: CgroupPath
  readonly values: CgroupValues
}

export interface PodValues {
  readonly info: PodInfo
  /** Undefined: the pod has no cgroup of its own. */
  readonly own: { readonly path: CgroupPath; readonly values: CgroupValues } | undefined
  /** Undefined: the pod uses the node's network, or has no process to look through. */
  readonly network: { readonly timeNanos: bigint; readonly values: NetworkValues } | undefined
  readonly containers: readonly ContainerValues[]
}

export interface CgroupSweep {
  readonly stats: StatsSample
  readonly pods: readonly PodValues[]
  /** Pods of which only the runtime knows something. */
  readonly opaque: readonly PodSample[]
}

interface CgroupSourceOptions {
  readonly context: CollectContext
  readonly procfs: Pick<Procfs, 'netDev' | 'networkNamespace'>
  readonly locator: CgroupLocator
  readonly nowNanos: () => bigint
  /** Pods in virtual machines: the host's cgroups say nothing about them. */
  readonly isOpaque: (pod: PodInfo) => boolean
  /** What the runtime last said of a container, for those pods. */
  readonly runtimeUsage: (containerId: string) => Usage | undefined
  /** Default: rates span two sweeps. */
  readonly history?: CpuHistory
}

export interface CgroupSource {
  sweep(inventory: Inventory, signal: AbortSignal): Promise<CgroupSweep>
}

/** Pods between two turns of the event loop: requests must not wait for a whole sweep. */
const PODS_A_TURN = 4

export function createCgroupSource(o: CgroupSourceOptions): CgroupSource {
  const history = o.history ?? createCpuHistory()
  const hostNetwork = o.procfs.networkNamespace()
  return {
    async sweep(inventory, signal) {
      o.locator.refresh(inventory)
      const timeNanos = o.nowNanos()
      const pods: PodSample[] = []
      const values: PodValues[] = []
      const opaque: PodSample[] = []
      let missing = 0
      await inTurns(inventory.pods, PODS_A_TURN, (info) => {
        signal.throwIfAborted()
        const read = o.isOpaque(info) ? readOpaque(info, o) : readPod(info, o, history, hostNetwork)
        missing += read.missing
        pods.push(read.sample)
        if (read.values === undefined) opaque.push(read.sample)
        else values.push(read.values)
      })
      history.sweep()
      return { stats: { source: 'cgroup', timeNanos, pods, missing }, pods: values, opaque }
    },
  }
}

interface ReadPod {
  readonly sample: PodSample
  readonly values: PodValues | undefined
  readonly missing: number
}

function readOpaque(info: PodInfo, { runtimeUsage }: CgroupSourceOptions): ReadPod {
  const containers = info.containers.map(
    (c): ContainerSample => ({
      info: c,
      usage: runtimeUsage(c.id) ?? noUsage,
      writableLayer: undefined,
    }),
  )
  const usage = sumUsage(containers.map((c) => c.usage))
  return {
    sample: { info, usage, network: undefined, processes: undefined, containers },
    values: undefined,
    missing: containers.filter((c) => c.usage === noUsage).length,
  }
}

function readPod(
  info: PodInfo,
  o: CgroupSourceOptions,
  history: CpuHistory,
  hostNetwork: string | undefined,
): ReadPod {
  const { context, nowNanos, locator } = o
  const at = locator.pod(info)
  const sandboxPids = at.sandbox === undefined ? [] : (processes.read(at.sandbox, 'pod', context)?.pids ?? [])
  const containers: ContainerValues[] = []
  for (const container of info.containers) {
    const path = locator.container(container.id)
    const values = path === undefined ? undefined : readCgroup(path, 'container', context, nowNanos)
    if (path !== undefined && values !== undefined) containers.push({ info: container, path, values })
  }
  const ownValues = at.pod === undefined ? undefined : readCgroup(at.pod, 'pod', context, nowNanos)
  const own =
    at.pod === undefined || ownValues === undefined ? undefined : { path: at.pod, values: ownValues }
  const samples = containers.map(
    (c): ContainerSample => ({
      info: c.info,
      usage: usageFrom(c.values, history.exchange(c.info.id, cpuReading(c.values))),
      writableLayer: undefined,
    }),
  )
  const pid = sandboxPids[0] ?? containers.flatMap((c) => c.values.processes?.pids ?? [])[0]
  const network = pid === undefined ? undefined : readNetwork(pid, o, hostNetwork)
  const count = containers.reduce((n, c) => n + (c.values.processes?.pids.length ?? 0), sandboxPids.length)
  const usage =
    own === undefined
      ? sumUsage(samples.map((s) => s.usage))
      : usageFrom(own.values, history.exchange(info.sandboxId, cpuReading(own.values)))
  return {
    values: { info, own, network, containers },
    sample: {
      info,
      usage,
      network: network === undefined ? undefined : networkUsage(network.values, network.timeNanos),
      processes: count === 0 ? undefined : { timeNanos: nowNanos(), processCount: BigInt(count) },
      containers: samples,
    },
    missing: info.containers.length - containers.length,
  }
}

/** Pods on the node's own network have no values of their own: they would repeat the node's traffic. */
function readNetwork(
  pid: number,
  { procfs, nowNanos }: CgroupSourceOptions,
  hostNetwork: string | undefined,
): PodValues['network'] {
  const namespace = procfs.networkNamespace(pid)
  if (namespace === undefined || namespace === hostNetwork) return undefined
  const timeNanos = nowNanos()
  const interfaces = procfs.netDev(pid)
  return interfaces === undefined ? undefined : { timeNanos, values: networkValues(interfaces) }
}
