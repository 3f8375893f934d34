// Memory from the files of cgroup v2. memory.peak since 5.19, `kernel` in memory.stat since 5.18, swap files only
// with swap accounting.
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import { readCount, readLimit } from './amounts.js'
import type { ReadValues } from './collector.js'
import { availableBelow, type MemoryValues, type SwapValues, workingSet } from './memory-values.js'

const statKeys = createFlatKeyedParser([
  'anon',
  'file',
  'kernel',
  'kernel_stack',
  'pagetables',
  'percpu',
  'sock',
  'slab',
  'file_mapped',
  'file_dirty',
  'file_writeback',
  'inactive_file',
  'active_file',
  'pgfault',
  'pgmajfault',
  'pgscan',
  'pgsteal',
  'workingset_refault_anon',
  'workingset_refault_file',
])
const eventKeys = createFlatKeyedParser(['high', 'max', 'oom_kill'])

type Stat = ReturnType<typeof statKeys>

const kernelMemory = (stat: Stat): bigint =>
  stat.kernel ??
  (stat.kernel_stack ?? 0n) +
    (stat.pagetables ?? 0n) +
    (stat.percpu ?? 0n) +
    (stat.sock ?? 0n) +
    (stat.slab ?? 0n)

const readSwap: ReadValues<SwapValues> = (path, _scope, context) => {
  const usage = readCount(context, path, 'memory.swap.current')
  if (usage === undefined) return undefined
  return { usage, available: availableBelow(readLimit(context, path, 'memory.swap.max'), usage) }
}

/** The root has no memory.current: all that its memory.stat accounts for is in use there. */
const usageOfRoot = (stat: Stat): bigint => (stat.anon ?? 0n) + (stat.file ?? 0n)

export const readMemoryV2: ReadValues<MemoryValues> = (path, scope, context) => {
  const statText = context.cgroups.read(path, 'memory.stat')
  if (statText === undefined) return undefined
  const stat = statKeys(statText)
  const usage =
    readCount(context, path, 'memory.current') ?? (scope === 'node' ? usageOfRoot(stat) : undefined)
  if (usage === undefined) return undefined
  const eventText = context.cgroups.read(path, 'memory.events')
  const events = eventText === undefined ? undefined : eventKeys(eventText)
  const inactiveFile = stat.inactive_file ?? 0n
  const faults = (count: bigint | undefined) => ({ own: count ?? 0n, withChildren: count ?? 0n })
  return {
    usage,
    workingSet: workingSet(usage, inactiveFile),
    rss: stat.anon ?? 0n,
    cache: stat.file ?? 0n,
    mappedFile: stat.file_mapped ?? 0n,
    activeFile: stat.active_file ?? 0n,
    inactiveFile,
    pageFaults: faults(stat.pgfault),
    majorPageFaults: faults(stat.pgmajfault),
    kernel: kernelMemory(stat),
    peak: readCount(context, path, 'memory.peak') ?? 0n,
    // v2 has no such counter; memory.events has its own families.
    failures: 0n,
    limit: readLimit(context, path, 'memory.max'),
    reservation: readLimit(context, path, 'memory.min'),
    swapLimit: readLimit(context, path, 'memory.swap.max'),
    swap: readSwap(path, scope, context),
    oomKills: events === undefined ? undefined : (events.oom_kill ?? 0n),
    events: events === undefined ? undefined : { high: events.high ?? 0n, max: events.max ?? 0n },
    reclaim: {
      fileDirty: stat.file_dirty ?? 0n,
      fileWriteback: stat.file_writeback ?? 0n,
      pgscan: stat.pgscan ?? 0n,
      pgsteal: stat.pgsteal ?? 0n,
      refaultAnon: stat.workingset_refault_anon ?? 0n,
      refaultFile: stat.workingset_refault_file ?? 0n,
    },
  }
}
