// Memory families from memory values.
import { extraLabels } from '../catalogue/family.js'
import { memoryFamilies } from '../catalogue/memory.js'
import { alwaysFamilies } from '../catalogue/times-and-limits.js'
import { limitOrZero } from './amounts.js'
import { byVersion, type Collector } from './collector.js'
import { readMemoryV1 } from './memory-v1.js'
import { readMemoryV2 } from './memory-v2.js'
import type { MemoryValues } from './memory-values.js'

const f = { ...memoryFamilies, ...alwaysFamilies }
const failure = (failure_type: string, scope: string) => extraLabels({ failure_type, scope })
const minorOwn = failure('pgfault', 'container')
const minorAll = failure('pgfault', 'hierarchy')
const majorOwn = failure('pgmajfault', 'container')
const majorAll = failure('pgmajfault', 'hierarchy')

export const memory: Collector<MemoryValues> = {
  read: byVersion(readMemoryV2, readMemoryV1),
  emit(m, emit) {
    emit(f.container_memory_usage_bytes, m.usage)
    emit(f.container_memory_working_set_bytes, m.workingSet)
    emit(f.container_memory_rss, m.rss)
    emit(f.container_memory_cache, m.cache)
    emit(f.container_memory_mapped_file, m.mappedFile)
    emit(f.container_memory_total_active_file_bytes, m.activeFile)
    emit(f.container_memory_total_inactive_file_bytes, m.inactiveFile)
    emit(f.container_memory_failures_total, m.pageFaults.own, minorOwn)
    emit(f.container_memory_failures_total, m.pageFaults.withChildren, minorAll)
    emit(f.container_memory_failures_total, m.majorPageFaults.own, majorOwn)
    emit(f.container_memory_failures_total, m.majorPageFaults.withChildren, majorAll)
    emit(f.container_memory_kernel_usage, m.kernel)
    emit(f.container_memory_max_usage_bytes, m.peak)
    emit(f.container_memory_failcnt, m.failures)
    emit(f.container_memory_swap, m.swap?.usage ?? 0n)
    const limit = limitOrZero(m.limit)
    if (limit !== undefined) emit(f.container_spec_memory_limit_bytes, limit)
    const reservation = limitOrZero(m.reservation)
    if (reservation !== undefined) emit(f.container_spec_memory_reservation_limit_bytes, reservation)
    emit(f.container_spec_memory_swap_limit_bytes, limitOrZero(m.swapLimit) ?? 0n)
    if (m.oomKills !== undefined) emit(f.container_oom_events_total, m.oomKills)
    if (m.events !== undefined) {
      emit(f.container_memory_events_high_total, m.events.high)
      emit(f.container_memory_events_max_total, m.events.max)
    }
    if (m.reclaim === undefined) return
    emit(f.container_memory_file_dirty_bytes, m.reclaim.fileDirty)
    emit(f.container_memory_file_writeback_bytes, m.reclaim.fileWriteback)
    emit(f.container_memory_pgscan_total, m.reclaim.pgscan)
    emit(f.container_memory_pgsteal_total, m.reclaim.pgsteal)
    emit(f.container_memory_workingset_refault_anon_total, m.reclaim.refaultAnon)
    emit(f.container_memory_workingset_refault_file_total, m.reclaim.refaultFile)
  },
}
