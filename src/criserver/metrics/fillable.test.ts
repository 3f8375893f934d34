// Which families a node can fill, by its kernel.
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { decideSwitches } from '../../stats/render/series-writer.js'
import { fillableFamilies, type NodeAbilities } from './fillable.js'

describe('what a node can fill', () => {
  const v2: NodeAbilities = {
    version: 'v2',
    controllers: new Set(['cpu', 'memory', 'io', 'pids', 'hugetlb']),
    pressure: { cpu: true, memory: true, io: true },
    hasDiskTimes: false,
    hasIoCost: false,
    hasLayers: true,
  }
  const names = (can: NodeAbilities) => new Set(fillableFamilies(can, decideSwitches()).map((f) => f.name))

  test('v2 with everything', () => {
    const all = names(v2)
    assert.ok(all.has('container_memory_events_high_total') && all.has('container_hugetlb_usage_bytes'))
    assert.ok(!all.has('container_fs_io_cost_usage_seconds_total'))
    assert.ok(!all.has('container_tasks_state') && !all.has('container_scrape_error'))
  })

  test('without pressure, huge pages, processes, I/O', () => {
    const less = names({
      ...v2,
      controllers: new Set(['cpu', 'memory']),
      pressure: { cpu: false, memory: true, io: false },
    })
    assert.deepEqual(
      [...less].filter((n) => n.includes('_pressure_')),
      ['container_pressure_memory_stalled_seconds_total', 'container_pressure_memory_waiting_seconds_total'],
    )
    assert.ok(![...less].some((n) => /hugetlb|_threads|_fs_reads|blkio/.test(n)))
    assert.ok(less.has('container_processes') && less.has('container_fs_usage_bytes'))
  })

  test('v1 has no events of memory.high and no pressure', () => {
    const v1 = names({
      ...v2,
      version: 'v1',
      controllers: new Set(['cpu', 'cpuacct', 'memory', 'blkio', 'pids']),
      pressure: { cpu: false, memory: false, io: false },
    })
    assert.ok(![...v1].some((n) => /pressure|memory_events/.test(n)))
    assert.ok(v1.has('container_memory_pgscan_total'), 'always 0, and sent')
    assert.ok(v1.has('container_memory_failcnt') && v1.has('container_fs_reads_total'))
  })
})
