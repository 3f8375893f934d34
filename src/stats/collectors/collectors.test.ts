// Collectors on files that snapshots do not have: CFQ's on v1, reservations of huge pages, a root without memory.current,
// a cgroup that has gone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { put } from '../../../test/support/stats-fixture.js'
import { splitHierarchy, unifiedHierarchy } from '../../adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../adapters/cgroups/tree.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { readCgroup, usageFrom } from '../cgroup/container-stats.js'
import { formatDecimal } from '../render/exposition.js'
import type { CollectContext, Scope } from './collector.js'
import { createDevices } from './device.js'
import { createHugePageSizes } from './hugetlb.js'
import { emitCgroup } from './index.js'

let root: string
let tree: CgroupFsTree
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keelson-collectors-'))
})
afterEach(() => {
  tree.close()
  rmSync(root, { recursive: true })
})

const v1 = ['cpu', 'cpuacct', 'memory', 'blkio', 'hugetlb', 'pids']

function context(version: 1 | 2, more: Partial<CollectContext> = {}): CollectContext {
  tree = new CgroupFsTree(
    version === 2 ? unifiedHierarchy(root) : splitHierarchy(new Map(v1.map((c) => [c, join(root, c)]))),
  )
  return {
    cgroups: tree,
    procfs: createProcfs({ proc: join(root, 'proc') }),
    device: createDevices(() => undefined),
    hugePageSizes: createHugePageSizes({ cgroups: tree }),
    ...more,
  }
}

/** `name{labels}` -> value, of one cgroup. */
function series(path: string, scope: Scope, of: CollectContext): Record<string, string> {
  const values = readCgroup(path, scope, of, () => 1n)
  const found: Record<string, string> = {}
  if (values !== undefined)
    emitCgroup(values, (family, value, extra) => {
      const labels = (extra?.pairs ?? []).map(([name, v]) => `${name}=${v}`).join(',')
      found[`${family.name}{${labels}}`] = formatDecimal(value, family.decimals)
    })
  return found
}

test('v1 with CFQ: disk time, merges, queue and sectors of a container', () => {
  put(join(root, 'cpuacct/c/cpuacct.usage'), '5\n')
  put(join(root, 'blkio/c/blkio.throttle.io_serviced'), '8:0 Read 1\n8:0 Write 2\nTotal 3\n')
  put(
    join(root, 'blkio/c/blkio.io_service_time_recursive'),
    '8:0 Read 1500000000\n8:0 Write 2\n8:0 Total 1500000002\n',
  )
  put(join(root, 'blkio/c/blkio.io_merged_recursive'), '8:0 Read 7\n8:0 Write 8\n')
  put(join(root, 'blkio/c/blkio.io_queued_recursive'), '8:0 Total 9\n')
  put(join(root, 'blkio/c/blkio.sectors_recursive'), '8:0 Read 10\n8:0 Write 11\n')
  const found = series('/c', 'container', context(1))
  expect(found).toMatchObject({
    'container_fs_reads_total{device=8:0}': '1',
    'container_fs_read_seconds_total{device=8:0}': '1.5',
    'container_fs_io_time_seconds_total{device=8:0}': '1.500000002',
    'container_fs_reads_merged_total{device=8:0}': '7',
    'container_fs_writes_merged_total{device=8:0}': '8',
    'container_fs_io_current{device=8:0}': '9',
    'container_fs_sector_reads_total{device=8:0}': '10',
    'container_fs_sector_writes_total{device=8:0}': '11',
  })
  // Bytes have a file of their own, which is not there.
  expect(Object.keys(found).filter((k) => k.includes('bytes_total') || k.includes('blkio'))).toEqual([])
})

test("the node's disk I/O on v1 is that of all cgroups, not of the root alone", () => {
  put(join(root, 'cpuacct/cpuacct.usage'), '5\n')
  put(join(root, 'blkio/blkio.throttle.io_service_bytes'), '8:0 Read 1\n8:0 Write 2\n')
  put(join(root, 'blkio/blkio.throttle.io_service_bytes_recursive'), '8:0 Read 10\n8:0 Write 20\n')
  put(join(root, 'blkio/blkio.throttle.io_serviced'), '8:0 Read 3\n8:0 Write 4\n')
  const found = series('/', 'node', context(1))
  expect(found).toMatchObject({
    'container_fs_reads_bytes_total{device=8:0}': '10',
    // Older kernels have no such file.
    'container_fs_reads_total{device=8:0}': '3',
  })
})

test('huge pages of v1: the reserved names come first, and a file that is missing gives no series', () => {
  put(join(root, 'cpuacct/c/cpuacct.usage'), '5\n')
  put(join(root, 'hugetlb/c/hugetlb.2MB.usage_in_bytes'), '1\n')
  put(join(root, 'hugetlb/c/hugetlb.2MB.rsvd.usage_in_bytes'), '2\n')
  put(join(root, 'hugetlb/c/hugetlb.2MB.rsvd.max_usage_in_bytes'), '3\n')
  put(join(root, 'hugetlb/c/hugetlb.2MB.max_usage_in_bytes'), '4\n')
  const found = series('/c', 'container', context(1))
  expect(found).toMatchObject({
    'container_hugetlb_usage_bytes{pagesize=2MB}': '2',
    'container_hugetlb_max_usage_bytes{pagesize=2MB}': '3',
  })
  expect(found).not.toHaveProperty('container_hugetlb_failcnt{pagesize=2MB}')
})

test.each([
  ['1', '2'],
  ['39', '998'],
  ['100', '2597'],
  ['10000', '262144'],
])('cpu.weight %s is shown as %s shares', (weight, shares) => {
  put(join(root, 'c/cpu.stat'), 'usage_usec 1\n')
  put(join(root, 'c/cpu.weight'), `${weight}\n`)
  expect(series('/c', 'container', context(2))['container_spec_cpu_shares{}']).toBe(shares)
})

test('v2 has the cost keys of io.stat only where the kernel prints them', () => {
  put(join(root, 'c/cpu.stat'), 'usage_usec 1\n')
  put(join(root, 'c/io.stat'), '8:0 rbytes=1 wbytes=0 rios=1 wios=0 cost.usage=1500000 cost.wait=20\n')
  const found = series('/c', 'container', context(2))
  expect(found).toMatchObject({
    'container_fs_io_cost_usage_seconds_total{device=8:0}': '1.5',
    'container_fs_io_cost_wait_seconds_total{device=8:0}': '0.00002',
  })
  expect(found).not.toHaveProperty('container_fs_io_cost_indebt_seconds_total{device=8:0}')
})

test('the root of v2 counts what its memory.stat accounts for; a container without memory.current has no memory', () => {
  put(join(root, 'memory.stat'), 'anon 10\nfile 20\ninactive_file 5\n')
  put(join(root, 'c/memory.stat'), 'anon 10\nfile 20\n')
  put(join(root, 'c/cpu.stat'), 'usage_usec 1\n')
  const of = context(2)
  expect(series('/', 'node', of)).toMatchObject({
    'container_memory_usage_bytes{}': '30',
    'container_memory_working_set_bytes{}': '25',
  })
  expect(series('/c', 'container', of)).not.toHaveProperty('container_memory_usage_bytes{}')
})

test('threads by state, where they are asked for', () => {
  put(join(root, 'c/cpu.stat'), 'usage_usec 1\n')
  put(join(root, 'c/cgroup.procs'), '7\n8\n')
  for (const [task, state] of [
    ['7/task/7', 'S'],
    ['7/task/71', 'R'],
    ['8/task/8', 't'],
  ] as const)
    put(join(root, 'proc', task, 'stat'), `1 (a) name) ${state} 1 1`)
  const procfs = createProcfs({ proc: join(root, 'proc') })
  const of = context(2, { taskStates: (pid) => procfs.taskStates(pid) })
  expect(series('/c', 'container', of)).toMatchObject({
    'container_tasks_state{state=sleeping}': '1',
    'container_tasks_state{state=running}': '1',
    'container_tasks_state{state=stopped}': '1',
    'container_tasks_state{state=uninterruptible}': '0',
  })
})

test('a cgroup that has gone reads as nothing', () => {
  const of = context(2)
  expect(readCgroup('/gone', 'container', of, () => 1n)).toBeUndefined()
})

describe('as cAdvisor, on v1', () => {
  const read = (asCadvisor: boolean) => {
    put(join(root, 'cpuacct/c/cpuacct.usage'), '5\n')
    put(join(root, 'memory/c/memory.usage_in_bytes'), '10\n')
    put(join(root, 'memory/c/memory.stat'), 'pgfault 3\ntotal_pgfault 70\npgmajfault 0\ntotal_pgmajfault 4\n')
    const values = readCgroup('/c', 'pod', context(1, { asCadvisor }), () => 1n)
    if (values === undefined) throw new Error('nothing was read')
    return usageFrom(values, undefined)
  }
  const none = { totalNanos: 0n, avg10: 0, avg60: 0, avg300: 0 }

  test('pressure is 0, and page faults are those of the cgroup alone', () => {
    const { cpu, memory, io } = read(true)
    for (const part of [cpu, memory, io]) expect(part?.psi).toEqual({ some: none, full: none })
    expect(memory).toMatchObject({ pageFaults: 3n, majorPageFaults: 0n })
  })

  test('otherwise pressure is unknown, and page faults are those of the subtree', () => {
    const { cpu, memory, io } = read(false)
    expect([cpu?.psi, memory?.psi, io]).toEqual([undefined, undefined, undefined])
    expect(memory).toMatchObject({ pageFaults: 70n, majorPageFaults: 4n })
  })
})
