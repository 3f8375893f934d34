// Slices through our D-Bus adapter on a real systemd: made, changed, reloaded, removed; and what happens to a value that
// systemd was not told about.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { SystemdCgroupTree } from '../../../src/adapters/systemd/cgroup-tree.js'
import { SystemdManager } from '../../../src/adapters/systemd/manager.js'
import { newSliceProperties, systemdProperties } from '../../../src/core/cgroup/systemd-properties.js'
import { decodeText } from '../../../src/core/kernel-text/words.js'
import type { Check } from '../../support/check.js'

const MiB = 1024 * 1024
const files = createCgroupTree(readCgroupLayout())
const systemd = new SystemdManager()
const tree = new SystemdCgroupTree({ files, systemd, pageSize: 4096n })

const top = '/kubepods.slice'
const qos = `${top}/kubepods-burstable.slice`
const pod = `${qos}/kubepods-burstable-podlab.slice`
const podUnit = 'kubepods-burstable-podlab.slice'

const value = (path: string, file: string): string | undefined => {
  const bytes = files.read(path, file)
  return bytes === undefined ? undefined : decodeText(bytes).trim()
}
const values = (path: string, names: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(names.map((n) => [n, value(path, n)]))

const full = {
  'memory.min': String(16 * MiB),
  'memory.low': String(24 * MiB),
  'memory.high': String(96 * MiB),
  'memory.max': String(128 * MiB),
  'cpu.weight': '50',
  'cpu.max': '50000 100000',
  'pids.max': '200',
} as const

/** systemd writes the files in its own time after a reply or a reload. */
async function settles(what: () => unknown, expected: unknown): Promise<void> {
  for (let i = 0; i < 150; i++) {
    try {
      assert.deepEqual(what(), expected)
      return
    } catch {
      await sleep(100)
    }
  }
  assert.deepEqual(what(), expected)
}

export const checks: readonly Check[] = [
  {
    name: 'the adapter reaches systemd',
    async run() {
      const version = await systemd.version()
      assert.match(version, /^2\d\d/)
      return { version }
    },
  },
  {
    name: 'ensure makes the slices of a pod, each in its parent, with the controllers on',
    async run() {
      await tree.ensure(pod)
      for (const path of [top, qos, pod]) assert.equal(files.exists(path), true, path)
      const unit = await systemd.unitProperty(podUnit, 'Unit', 'ActiveState')
      assert.deepEqual(unit, { type: 's', value: 'active' })
      for (const controller of ['cpu', 'io', 'memory', 'pids'])
        assert.ok(files.controllers(pod)?.includes(controller), controller)
    },
  },
  {
    name: 'apply sets the full set as properties and in the files',
    async run() {
      await tree.apply(pod, full)
      await settles(() => values(pod, Object.keys(full)), full)
      const high = await systemd.unitProperty(podUnit, 'Slice', 'MemoryHigh')
      assert.deepEqual(high, { type: 't', value: BigInt(96 * MiB) })
    },
  },
  {
    name: 'the full set survives daemon-reload',
    async run() {
      let heard = 0
      const forget = systemd.onReloaded(() => {
        heard++
      })
      await systemd.reload()
      await settles(() => heard, 1)
      await sleep(1500)
      forget()
      assert.deepEqual(values(pod, Object.keys(full)), full)
      assert.equal(heard, 1)
    },
  },
  {
    name: 'a value written only to the file is lost at daemon-reload',
    async run() {
      files.write(pod, 'memory.high', String(48 * MiB))
      files.write(pod, 'memory.min', String(8 * MiB))
      assert.deepEqual(values(pod, ['memory.high', 'memory.min']), {
        'memory.high': String(48 * MiB),
        'memory.min': String(8 * MiB),
      })
      await systemd.reload()
      await settles(() => values(pod, ['memory.high', 'memory.min']), {
        'memory.high': full['memory.high'],
        'memory.min': full['memory.min'],
      })
    },
  },
  {
    name: 'a change through apply is kept over the next reload, the values not named stay',
    async run() {
      await tree.apply(pod, { 'memory.high': String(64 * MiB), 'memory.min': '0' })
      await systemd.reload()
      await sleep(1000)
      assert.deepEqual(values(pod, Object.keys(full)), {
        ...full,
        'memory.high': String(64 * MiB),
        'memory.min': '0',
      })
    },
  },
  {
    name: 'max takes a limit back, also over a reload',
    async run() {
      await tree.apply(pod, { 'memory.high': 'max', 'cpu.max': 'max 100000' })
      await systemd.reload()
      await sleep(1000)
      assert.equal(value(pod, 'memory.high'), 'max')
      assert.equal(value(pod, 'cpu.max'), 'max 100000')
    },
  },
  {
    name: 'starting a slice that runs already says so and changes nothing',
    async run() {
      const properties = [
        ...newSliceProperties(podUnit, undefined),
        ...systemdProperties({ 'memory.max': '4096' }),
      ]
      assert.equal(await systemd.startTransientUnit(podUnit, properties), 'existed')
      assert.equal(value(pod, 'memory.max'), full['memory.max'])
    },
  },
  {
    name: 'remove stops the slice and its cgroup is gone; removing twice is once',
    async run() {
      await tree.remove(pod)
      assert.equal(files.exists(pod), false)
      assert.equal(files.read(pod, 'memory.high'), undefined)
      await tree.remove(pod)
      // systemd knows every slice name without a file, but no service.
      assert.equal(await systemd.stopUnit('kubepods-never-podwas.slice'), 'stopped')
      assert.equal(await systemd.stopUnit('keelson-never-was.service'), 'absent')
      await tree.remove(top)
      assert.equal(files.exists(top), false)
      await systemd.close()
    },
  },
]
