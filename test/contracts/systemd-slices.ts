// What the systemd driver does on a machine with a live systemd: slices made, changed and removed through D-Bus; what
// survives daemon-reload and what does not. Plain values that throw on failure, like the cgroup contract.
import assert from 'node:assert/strict'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { SystemdCgroupTree } from '../../src/adapters/systemd/cgroup-tree.js'
import { SystemdManager } from '../../src/adapters/systemd/manager.js'
import { decodeText } from '../../src/core/kernel-text/words.js'
import type { CgroupTree } from '../../src/ports/cgroups.js'
import type { Systemd } from '../../src/ports/systemd.js'
import { startProcessIn } from './cgroup-process.js'

export interface SliceCase {
  readonly name: string
  run(): Promise<unknown>
}

const top = '/kscontract.slice'
const pod = `${top}/kscontract-burstable.slice/kscontract-burstable-pod1_2.slice`
const unit = 'kscontract-burstable-pod1_2.slice'

interface Parts {
  readonly tree: CgroupTree
  readonly systemd: Systemd
  text(file: string): string | undefined
}

async function withTree(work: (parts: Parts) => Promise<unknown>): Promise<unknown> {
  const files = createCgroupTree(readCgroupLayout())
  const systemd = new SystemdManager()
  const tree = new SystemdCgroupTree({ files, systemd, pageSize: createProcfs().pageSize() })
  const text = (file: string): string | undefined => {
    const bytes = tree.read(pod, file)
    return bytes === undefined ? undefined : decodeText(bytes).trim()
  }
  try {
    await tree.remove(top)
    return await work({ tree, systemd, text })
  } finally {
    await tree.remove(top)
    await systemd.close()
    tree.close()
  }
}

const reload = async (systemd: Systemd): Promise<void> => {
  const done = new Promise<void>((resolve) => {
    const forget = systemd.onReloaded(() => {
      forget()
      resolve()
    })
  })
  await systemd.reload()
  await done
}

const values = {
  'memory.min': '16777216',
  'memory.low': '20971520',
  'memory.high': '134217728',
  'memory.max': '268435456',
  'cpu.weight': '39',
  'cpu.max': '50000 100000',
  'pids.max': '77',
} as const

export const systemdSlices: readonly SliceCase[] = [
  {
    name: 'slices are made at every level, active, with the controllers usable, and removed',
    run: () =>
      withTree(async ({ tree, systemd }) => {
        const start = performance.now()
        await tree.ensure(pod)
        const createMs = Math.round(performance.now() - start)
        await tree.ensure(pod)
        const used = ['cpu', 'cpuset', 'hugetlb', 'io', 'memory', 'pids']
        const wanted = (tree.controllers('/') ?? []).filter((name) => used.includes(name))
        const got = tree.controllers(pod) ?? []
        assert.deepEqual(
          wanted.filter((name) => !got.includes(name)),
          [],
        )
        assert.equal((await systemd.unitProperty(unit, 'Unit', 'ActiveState'))?.value, 'active')
        await tree.remove(top)
        assert.equal(tree.exists(top), false)
        assert.notEqual((await systemd.unitProperty(unit, 'Unit', 'ActiveState'))?.value, 'active')
        return { createMs, systemd: await systemd.version() }
      }),
  },
  {
    name: 'a full property set reaches the files and survives daemon-reload',
    run: () =>
      withTree(async ({ tree, systemd, text }) => {
        await tree.ensure(pod)
        await tree.apply(pod, values)
        const read = () => Object.fromEntries(Object.keys(values).map((file) => [file, text(file)]))
        assert.deepEqual(read(), values)
        assert.equal((await systemd.unitProperty(unit, 'Slice', 'MemoryHigh'))?.value, 134217728n)
        await reload(systemd)
        assert.deepEqual(read(), values)
        await tree.apply(pod, { 'memory.high': 'max', 'memory.min': '0' })
        assert.deepEqual(read(), { ...values, 'memory.high': 'max', 'memory.min': '0' })
        await reload(systemd)
        assert.deepEqual(read(), { ...values, 'memory.high': 'max', 'memory.min': '0' })
      }),
  },
  {
    name: 'a value written only to the file does not survive daemon-reload',
    run: () =>
      withTree(async ({ tree, systemd, text }) => {
        await tree.ensure(pod)
        await tree.apply(pod, { 'memory.min': '16777216' })
        tree.write(pod, 'memory.high', '50331648')
        tree.write(pod, 'memory.min', '8388608')
        assert.deepEqual([text('memory.high'), text('memory.min')], ['50331648', '8388608'])
        await reload(systemd)
        const deadline = performance.now() + 5_000
        while (text('memory.high') !== 'max' && performance.now() < deadline)
          await new Promise((resolve) => setTimeout(resolve, 20))
        assert.deepEqual([text('memory.high'), text('memory.min')], ['max', '16777216'])
      }),
  },
  {
    name: 'a slice with a process is busy, and the process lives on',
    run: () =>
      withTree(async ({ tree }) => {
        await tree.ensure(pod)
        const process = await startProcessIn(tree)(pod)
        try {
          await assert.rejects(tree.remove(top), { code: 'cgroup.busy' })
          assert.equal(tree.exists(pod), true)
        } finally {
          await process.end()
        }
      }),
  },
]
