// The eleven files of a sweep, on v2 and as their v1 counterparts, each with the parser that a collector would use.
import { parseCpuMax } from '../../src/core/kernel-text/cpu-max.js'
import { parseCount, parseCountOrMax, parseSigned } from '../../src/core/kernel-text/digits.js'
import { createFlatKeyedParser } from '../../src/core/kernel-text/flat-keyed.js'
import { parseBlkio, parseNestedKeyed } from '../../src/core/kernel-text/nested-keyed.js'

export type SweptFile = readonly [file: string, parse: (text: Uint8Array) => unknown]

const memoryStatV2 = createFlatKeyedParser([
  'anon',
  'file',
  'kernel_stack',
  'pagetables',
  'shmem',
  'file_mapped',
  'file_dirty',
  'file_writeback',
  'inactive_anon',
  'active_anon',
  'inactive_file',
  'active_file',
  'unevictable',
  'slab_reclaimable',
  'slab_unreclaimable',
  'workingset_refault_file',
  'pgfault',
  'pgmajfault',
])
const memoryEvents = createFlatKeyedParser(['low', 'high', 'max', 'oom', 'oom_kill'])
const cpuStatV2 = createFlatKeyedParser([
  'usage_usec',
  'user_usec',
  'system_usec',
  'nr_periods',
  'nr_throttled',
  'throttled_usec',
])

export const filesV2: readonly SweptFile[] = [
  ['memory.current', parseCount],
  ['memory.stat', memoryStatV2],
  ['memory.max', parseCountOrMax],
  ['memory.peak', parseCount],
  ['memory.events', memoryEvents],
  ['cpu.stat', cpuStatV2],
  ['cpu.max', parseCpuMax],
  ['cpu.weight', parseCount],
  ['io.stat', parseNestedKeyed],
  ['pids.current', parseCount],
  ['pids.max', parseCountOrMax],
]

const memoryStatV1 = createFlatKeyedParser([
  'cache',
  'rss',
  'mapped_file',
  'total_cache',
  'total_rss',
  'total_rss_huge',
  'total_shmem',
  'total_mapped_file',
  'total_dirty',
  'total_writeback',
  'total_inactive_anon',
  'total_active_anon',
  'total_inactive_file',
  'total_active_file',
  'total_unevictable',
  'total_pgfault',
  'total_pgmajfault',
])
const cpuStatV1 = createFlatKeyedParser(['nr_periods', 'nr_throttled', 'throttled_time'])

export const filesV1: readonly SweptFile[] = [
  ['memory.usage_in_bytes', parseCount],
  ['memory.stat', memoryStatV1],
  ['memory.limit_in_bytes', parseCount],
  ['memory.max_usage_in_bytes', parseCount],
  ['cpuacct.usage', parseCount],
  ['cpu.stat', cpuStatV1],
  ['cpu.cfs_quota_us', parseSigned],
  ['cpu.shares', parseCount],
  ['blkio.throttle.io_service_bytes', parseBlkio],
  ['pids.current', parseCount],
  ['pids.max', parseCountOrMax],
]
