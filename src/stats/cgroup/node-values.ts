// The node's own values: the root cgroup, with /proc where the root has no files of its own.
import type { MemInfo } from '../../core/kernel-text/meminfo.js'
import { ticksPerSecond } from '../../core/kernel-text/proc-stat.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CollectContext } from '../collectors/collector.js'
import type { CpuValues } from '../collectors/cpu.js'
import { diskTimes } from '../collectors/disk-io.js'
import { memory } from '../collectors/memory.js'
import { type MemoryValues, workingSet } from '../collectors/memory-values.js'
import { type NetworkValues, networkValues } from '../collectors/network.js'
import { zeroPressure } from '../collectors/pressure.js'
import { type CgroupValues, readCgroup } from './container-stats.js'

export interface NodeValues {
  readonly cgroup: CgroupValues
  readonly network: NetworkValues | undefined
  /** Bytes set aside for huge pages, which nothing else can use. */
  readonly hugePageBytes: bigint
}

type NodeProcfs = Pick<Procfs, 'memInfo' | 'stat' | 'diskStats' | 'netDev' | 'pressure'>

/** Processor time since boot. Old kernels have no cpu.stat at the root. */
function cpuFromProc(procfs: Pick<Procfs, 'stat'>): CpuValues {
  const { total: t } = procfs.stat()
  const nanos = (ticks: bigint): bigint => (ticks * 1_000_000_000n) / ticksPerSecond
  const userNanos = nanos(t.user + t.nice)
  const systemNanos = nanos(t.system + t.irq + t.softirq)
  return {
    usageNanos: userNanos + systemNanos + nanos(t.steal),
    userNanos,
    systemNanos,
    quotaMicros: undefined,
    periodMicros: undefined,
    shares: undefined,
    throttling: {
      periods: 0n,
      throttledPeriods: 0n,
      throttledNanos: 0n,
      burstPeriods: 0n,
      burstNanos: 0n,
    },
  }
}

/** Where the root has no memory.stat either. */
function memoryFromProc(info: MemInfo): MemoryValues {
  const bytes = (name: string): bigint => info.get(name) ?? 0n
  const usage = bytes('AnonPages') + bytes('Cached')
  const inactiveFile = bytes('Inactive(file)')
  const none = { own: 0n, withChildren: 0n }
  return {
    usage,
    workingSet: workingSet(usage, inactiveFile),
    rss: bytes('AnonPages'),
    cache: bytes('Cached'),
    mappedFile: bytes('Mapped'),
    activeFile: bytes('Active(file)'),
    inactiveFile,
    pageFaults: none,
    majorPageFaults: none,
    kernel: bytes('Slab') + bytes('KernelStack') + bytes('PageTables'),
    peak: 0n,
    failures: 0n,
    limit: undefined,
    reservation: undefined,
    swapLimit: undefined,
    swap: undefined,
    oomKills: undefined,
    events: undefined,
    reclaim: undefined,
  }
}

/** The limits of the root are the machine's. */
function withMachineLimits(memory: MemoryValues, info: MemInfo): MemoryValues {
  const total = info.get('MemTotal')
  const swapTotal = info.get('SwapTotal')
  const swapFree = info.get('SwapFree')
  return {
    ...memory,
    limit: total,
    reservation: undefined,
    swapLimit: swapTotal,
    swap:
      swapTotal === undefined || swapFree === undefined
        ? undefined
        : { usage: swapTotal - swapFree, available: swapFree },
  }
}

/** Of the node as a whole, with the machine's limits. */
export const readNodeMemory = (context: CollectContext, info: MemInfo): MemoryValues =>
  withMachineLimits(memory.read('/', 'node', context) ?? memoryFromProc(info), info)

/** Bytes set aside for huge pages, which nothing else can use. */
export const hugePageBytes = (info: MemInfo): bigint =>
  info.get('Hugetlb') ?? (info.get('HugePages_Total') ?? 0n) * (info.get('Hugepagesize') ?? 0n)

/** `hostPid` is a process in the node's network namespace. */
export function readNode(
  context: CollectContext,
  procfs: NodeProcfs,
  hostPid: number,
  nowNanos: () => bigint,
): NodeValues {
  const info = procfs.memInfo()
  const root = readCgroup('/', 'node', context, nowNanos)
  const interfaces = procfs.netDev(hostPid)
  const absentPressure = context.asCadvisor === true ? zeroPressure : undefined
  return {
    cgroup: {
      timeNanos: root?.timeNanos ?? nowNanos(),
      cpu: root?.cpu ?? cpuFromProc(procfs),
      memory: withMachineLimits(root?.memory ?? memoryFromProc(info), info),
      pressure: {
        cpu: procfs.pressure('cpu') ?? absentPressure?.cpu,
        memory: procfs.pressure('memory') ?? absentPressure?.memory,
        io: procfs.pressure('io') ?? absentPressure?.io,
      },
      io: [
        ...(root?.io ?? []),
        ...(context.cgroups.version === 'v2' ? diskTimes(procfs.diskStats(), context.device) : []),
      ],
      hugePages: undefined,
      processes: root?.processes,
    },
    network: interfaces === undefined ? undefined : networkValues(interfaces, context),
    hugePageBytes: hugePageBytes(info),
  }
}
