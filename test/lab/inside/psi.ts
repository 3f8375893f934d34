// What only a full kernel has: pressure, hugetlb and cpuset files of a container, through our client and our readers.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../../src/adapters/procfs/procfs.js'
import { parseCountOrMax } from '../../../src/core/kernel-text/digits.js'
import { parseFlatKeyed } from '../../../src/core/kernel-text/flat-keyed.js'
import { type Pressure, parsePressure } from '../../../src/core/kernel-text/pressure.js'
import { decodeText } from '../../../src/core/kernel-text/words.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import type { Check } from '../../support/check.js'
import { cgroupOf, connect, MiB, pidOf, type RunningPod, removePod, runPod } from './pod.js'

const tree = createCgroupTree(readCgroupLayout())
const parent = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podpsi.slice'
const state: { client?: CriClient; pod?: RunningPod; path?: string } = {}

const path = (): string => {
  if (state.path === undefined) throw new Error('there is no container: an earlier check failed')
  return state.path
}
const bytes = (file: string): Uint8Array => {
  const read = tree.read(path(), file)
  assert.ok(read !== undefined, `${file} is not there`)
  return read
}
const pressure = (file: string): Pressure => {
  const parsed = parsePressure(bytes(file))
  assert.ok(parsed !== undefined, `${file} is not a pressure file`)
  return parsed
}

/** Reads until it holds; emulated machines take their time. */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 120; i++) {
    if (holds()) return
    await sleep(500)
  }
  assert.fail(`${what}: not within 60 s`)
}

export const checks: readonly Check[] = [
  {
    name: 'a container that is short of memory and of CPU, with a cpuset and a huge page limit',
    timeoutMs: 180_000,
    async run() {
      const client = connect(120_000)
      state.client = client
      state.pod = await runPod(client, {
        name: 'psi',
        cgroupParent: parent,
        // Twice the memory that it may hold without being slowed down, and no pause between passes.
        command: ['/bin/hog', '64', '0'],
        resources: {
          memoryLimitInBytes: BigInt(256 * MiB),
          cpuPeriod: 100_000n,
          cpuQuota: 20_000n,
          cpusetCpus: '1',
          hugepageLimits: [{ pageSize: '2MB', limit: BigInt(4 * MiB) }],
          unified: { 'memory.high': String(32 * MiB) },
        },
      })
      state.path = cgroupOf(await pidOf(client, state.pod.containerId))
      assert.ok(state.path.startsWith(`${parent}/`), state.path)
    },
  },
  {
    name: 'memory.pressure of the container rises, and memory.events counts why',
    timeoutMs: 90_000,
    async run() {
      await eventually('memory.pressure', () => pressure('memory.pressure').some.totalMicros > 0n)
      await eventually(
        'memory.events high',
        () => (parseFlatKeyed(bytes('memory.events')).get('high') ?? 0n) > 0n,
      )
      return {
        memory: pressure('memory.pressure').some,
        events: Object.fromEntries(parseFlatKeyed(bytes('memory.events'))),
      }
    },
  },
  {
    name: 'cpu.pressure of the container rises under its quota',
    timeoutMs: 90_000,
    async run() {
      await eventually('cpu.pressure', () => pressure('cpu.pressure').some.totalMicros > 0n)
      return { cpu: pressure('cpu.pressure').some }
    },
  },
  {
    name: 'io.pressure of the container is there and parses',
    run() {
      const { some, full } = pressure('io.pressure')
      assert.ok(some !== undefined && full !== undefined)
      assert.ok(some.totalMicros >= full.totalMicros)
    },
  },
  {
    name: 'cpuset.cpus and its effective value are the ones asked for',
    run() {
      assert.equal(decodeText(bytes('cpuset.cpus')).trim(), '1')
      assert.equal(decodeText(bytes('cpuset.cpus.effective')).trim(), '1')
    },
  },
  {
    name: 'hugetlb.2MB.max is the limit asked for, current and events read',
    run() {
      assert.equal(parseCountOrMax(bytes('hugetlb.2MB.max')), BigInt(4 * MiB))
      assert.equal(parseCountOrMax(bytes('hugetlb.2MB.current')), 0n)
      assert.equal(parseFlatKeyed(bytes('hugetlb.2MB.events')).get('max'), 0n)
    },
  },
  {
    name: 'node-wide pressure reads through procfs',
    run() {
      const procfs = createProcfs()
      for (const resource of ['cpu', 'memory', 'io'] as const)
        assert.ok(procfs.pressure(resource)?.some !== undefined, resource)
    },
  },
  {
    name: 'the pod goes away and its files read as gone',
    timeoutMs: 120_000,
    async run() {
      const { client, pod } = state
      assert.ok(client !== undefined && pod !== undefined)
      await removePod(client, pod)
      assert.equal(tree.read(path(), 'memory.pressure'), undefined)
      client.close()
      tree.close()
    },
  },
]
