// Memory from the files of cgroup v1. The total_ keys hold the whole subtree; without use_hierarchy the plain keys count.
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import { type Limit, minus, readCount, readLimit } from './amounts.js'
import type { ReadValues } from './collector.js'
import { type MemoryValues, type ReclaimValues, type SwapValues, workingSet } from './memory-values.js'

const statKeys = createFlatKeyedParser([
  'cache',
  'rss',
  'mapped_file',
  'swap',
  'pgfault',
  'pgmajfault',
  'total_cache',
  'total_rss',
  'total_mapped_file',
  'total_swap',
  'total_pgfault',
  'total_pgmajfault',
  'total_inactive_file',
  'total_active_file',
])
const oomKeys = createFlatKeyedParser(['oom_kill'])

/** v1 keeps none of these, and the catalogue of upstream's metrics has them as 0 there. */
const notCounted: ReclaimValues = {
  fileDirty: 0n,
  fileWriteback: 0n,
  pgscan: 0n,
  pgsteal: 0n,
  refaultAnon: 0n,
  refaultFile: 0n,
}

/** memsw limits memory and swap together, so swap has what is left of it above the memory limit. */
function swapValues(usage: bigint, limit: Limit | undefined, memsw: Limit | undefined): SwapValues {
  if (typeof limit !== 'bigint' || typeof memsw !== 'bigint') return { usage, available: undefined }
  return { usage, available: minus(minus(memsw, limit), usage) }
}

export const readMemoryV1: ReadValues<MemoryValues> = (path, _scope, context) => {
  const statText = context.cgroups.read(path, 'memory.stat')
  if (statText === undefined) return undefined
  const stat = statKeys(statText)
  const usage = readCount(context, path, 'memory.usage_in_bytes')
  if (usage === undefined) return undefined
  // The bytes of a read are gone with the next one: parse first.
  const oomText = context.cgroups.read(path, 'memory.oom_control')
  const oomKills = oomText === undefined ? undefined : (oomKeys(oomText).oom_kill ?? 0n)
  const hierarchical = readCount(context, path, 'memory.use_hierarchy') === 1n
  const limit = readLimit(context, path, 'memory.limit_in_bytes')
  const memsw = readLimit(context, path, 'memory.memsw.limit_in_bytes')
  const inactiveFile = stat.total_inactive_file ?? 0n
  const pageFaults = stat.pgfault ?? 0n
  const majorPageFaults = stat.pgmajfault ?? 0n
  const subtree: Partial<typeof stat> = context.asCadvisor === true ? {} : stat
  return {
    usage,
    workingSet: workingSet(usage, inactiveFile),
    rss: (hierarchical ? stat.total_rss : stat.rss) ?? 0n,
    cache: (hierarchical ? stat.total_cache : stat.cache) ?? 0n,
    mappedFile: (hierarchical ? stat.total_mapped_file : stat.mapped_file) ?? 0n,
    activeFile: stat.total_active_file ?? 0n,
    inactiveFile,
    pageFaults: { own: pageFaults, withChildren: subtree.total_pgfault ?? pageFaults },
    majorPageFaults: { own: majorPageFaults, withChildren: subtree.total_pgmajfault ?? majorPageFaults },
    kernel: readCount(context, path, 'memory.kmem.usage_in_bytes') ?? 0n,
    peak: readCount(context, path, 'memory.max_usage_in_bytes') ?? 0n,
    failures: readCount(context, path, 'memory.failcnt') ?? 0n,
    limit,
    reservation: readLimit(context, path, 'memory.soft_limit_in_bytes'),
    swapLimit: memsw,
    swap: swapValues((hierarchical ? stat.total_swap : stat.swap) ?? 0n, limit, memsw),
    oomKills,
    events: undefined,
    reclaim: notCounted,
  }
}
