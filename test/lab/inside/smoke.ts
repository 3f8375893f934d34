// The least that must hold in every machine: a writable cgroup v2 with its controllers, and the disks asked for.
import assert from 'node:assert/strict'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type Check, NotHere } from '../../support/check.js'

const root = '/sys/fs/cgroup'
const read = (path: string): string => readFileSync(path, 'utf8').trim()

const expected: Readonly<Record<string, readonly string[]>> = {
  uml: ['cpu', 'io', 'memory', 'pids'],
  'uml-systemd': ['cpu', 'io', 'memory', 'pids'],
  qemu: ['cpu', 'cpuset', 'hugetlb', 'io', 'memory', 'pids'],
}

export const checks: readonly Check[] = [
  {
    name: 'every controller of this kernel is enabled for children of the root',
    run() {
      const has = read(`${root}/cgroup.controllers`).split(' ')
      assert.deepEqual(read(`${root}/cgroup.subtree_control`).split(' ').sort(), [...has].sort())
      for (const name of expected[process.env.LAB_BED ?? ''] ?? ['no such machine'])
        assert.ok(has.includes(name), `${name} is missing in ${has.join(' ')}`)
    },
  },
  {
    name: 'memory.high is written and read back, floored to a page',
    run() {
      const dir = `${root}/lab-smoke`
      mkdirSync(dir)
      try {
        writeFileSync(`${dir}/memory.high`, String(32 * 1024 * 1024 + 4097))
        assert.equal(read(`${dir}/memory.high`), String(32 * 1024 * 1024 + 4096))
        assert.throws(() => writeFileSync(`${dir}/memory.high`, 'much'), { code: 'EINVAL' })
      } finally {
        rmdirSync(dir)
      }
    },
  },
  {
    name: 'process 1 is the one of this machine',
    run() {
      assert.equal(read('/proc/1/comm'), process.env.LAB_BED === 'uml' ? 'bash' : 'systemd')
    },
  },
  {
    name: 'the repository is visible at its own path',
    run() {
      assert.match(read('package.json'), /"name": "keelson"/)
    },
  },
  {
    name: 'each disk is a device of its size that keeps what is written',
    run() {
      const devices = (process.env.LAB_DISKS ?? '').split(' ').filter((d) => d !== '')
      if (devices.length === 0) return new NotHere('no disks were asked for')
      for (const [i, device] of devices.entries()) {
        const fd = openSync(device, 'r+')
        const block = Buffer.alloc(4096, `disk ${i}`)
        writeSync(fd, block, 0, block.length, 8192)
        fsyncSync(fd)
        const back = Buffer.alloc(4096)
        readSync(fd, back, 0, back.length, 8192)
        closeSync(fd)
        assert.deepEqual(back, block)
        const sectors = Number(read(`/sys/class/block/${device.slice('/dev/'.length)}/size`))
        assert.equal(sectors * 512, (i + 1) * 16 * 1024 * 1024)
      }
      return { devices }
    },
  },
]
