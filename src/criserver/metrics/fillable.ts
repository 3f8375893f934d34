// Which families this node can fill. A kubelet asks once, maybe before the first pod runs, so it is decided from what the
// kernel has and not from what was seen.
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import { diskFamilies as disk } from '../../stats/catalogue/disk.js'
import type { Family } from '../../stats/catalogue/family.js'
import { allFamilies } from '../../stats/catalogue/index.js'
import { processFamilies as processes } from '../../stats/catalogue/process.js'
import type { Switches } from '../../stats/render/series-writer.js'

export interface NodeAbilities {
  readonly version: 'v1' | 'v2'
  readonly controllers: ReadonlySet<string>
  readonly pressure: Readonly<Record<'cpu' | 'memory' | 'io', boolean>>
  /** CFQ's counters of time and merges, gone since Linux 5.0. */
  readonly hasDiskTimes: boolean
  /** The io.cost controller is on for a device. */
  readonly hasIoCost: boolean
  readonly hasLayers: boolean
}

const resources = ['cpu', 'memory', 'io'] as const

export function readAbilities(
  cgroups: Pick<CgroupTree, 'version' | 'controllers' | 'read'>,
  procfs: Pick<Procfs, 'pressure'>,
  hasLayers: boolean,
): NodeAbilities {
  const { version } = cgroups
  const hasPressure = (what: (typeof resources)[number]): boolean =>
    version === 'v2' && procfs.pressure(what) !== undefined
  return {
    version,
    controllers: new Set(cgroups.controllers('/') ?? []),
    pressure: { cpu: hasPressure('cpu'), memory: hasPressure('memory'), io: hasPressure('io') },
    hasDiskTimes: version === 'v1' && cgroups.read('/', 'blkio.io_service_time_recursive') !== undefined,
    hasIoCost: new TextDecoder().decode(cgroups.read('/', 'io.cost.qos')).includes('enable=1'),
    hasLayers,
  }
}

const throughput: ReadonlySet<Family> = new Set([
  disk.container_blkio_device_usage_total,
  disk.container_fs_reads_bytes_total,
  disk.container_fs_reads_total,
  disk.container_fs_writes_bytes_total,
  disk.container_fs_writes_total,
])
/** Only the node on v2 has it, besides CFQ. */
const weighted = disk.container_fs_io_time_weighted_seconds_total
/** memory.events is of v2 alone; what its memory.stat counts besides is 0 on v1, as upstream has it. */
const onlyV2 = /^container_memory_events_/
const needPids: ReadonlySet<Family> = new Set([processes.container_threads, processes.container_threads_max])

function canFillDiskIo(family: Family, can: NodeAbilities): boolean {
  const hasIo = can.controllers.has(can.version === 'v2' ? 'io' : 'blkio')
  if (throughput.has(family)) return hasIo
  if (family.name.includes('_io_cost_')) return hasIo && can.hasIoCost
  return hasIo && can.hasDiskTimes && family !== weighted
}

function canFill(family: Family, can: NodeAbilities): boolean {
  switch (family.group) {
    case 'cpu':
      return can.controllers.has(can.version === 'v2' ? 'cpu' : 'cpuacct')
    case 'memory':
    case 'oom_event':
      return can.controllers.has('memory') && (can.version === 'v2' || !onlyV2.test(family.name))
    case 'hugetlb':
      return can.controllers.has('hugetlb')
    case 'pressure':
      return resources.some((what) => can.pressure[what] && family.name.includes(`_pressure_${what}_`))
    case 'diskIO':
      return canFillDiskIo(family, can)
    case 'disk':
      return can.hasLayers
    case 'process':
      return !needPids.has(family) || can.controllers.has('pids')
    case 'network':
      return true
    case 'always':
      return /_spec_memory_/.test(family.name)
        ? can.controllers.has('memory')
        : !/_spec_cpu_/.test(family.name) || can.controllers.has('cpu')
    case 'cpuLoad':
      return false
  }
}

/** Families of single tasks cost a look at every thread and are off unless switched on. */
export const fillableFamilies = (
  can: NodeAbilities,
  { disabledFamilies }: Pick<Switches, 'disabledFamilies'>,
): readonly Family[] =>
  allFamilies.filter(
    (family) => family.level !== 'node' && !disabledFamilies.has(family.name) && canFill(family, can),
  )
