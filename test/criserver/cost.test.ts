// What the values of the CRI server cost: how often the cgroups are read, and what reaches the runtime.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { unifiedHierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createValues, type Values } from '../../src/criserver/stats/read-values.js'
import { FakeClock } from '../../src/fakes/clock.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { calm, counted, type OpenWork } from '../support/open-work.js'
import { statsOf } from '../support/runtime-values.js'
import { containersOf, layOutNode, noFiles, put, sandboxOf } from '../support/stats-fixture.js'
import { etcd, web } from '../support/stats-pods.js'

const pods = [web, etcd]
const signal = new AbortController().signal
let directory = ''
let runtime: FakeRuntime
let client: CriClient
let cgroups: CgroupFsTree
let clock: FakeClock
let values: Values
const work: OpenWork = { open: 0 }
/** Files of the first container, as they were read. */
let reads: string[] = []

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-cost-'))
  const { root, proc, sys } = layOutNode(directory, pods)
  put(join(root, 'cgroup.controllers'), 'cpuset cpu io memory hugetlb pids\n')
  cgroups = new CgroupFsTree(unifiedHierarchy(root))
  runtime = await startFakeRuntime({
    ListPodSandbox: { value: { items: pods.map(sandboxOf) } },
    ListContainers: { value: { containers: pods.flatMap(containersOf) } },
    ListContainerStats: { value: { stats: pods.flatMap((p) => statsOf(p).linux?.containers ?? []) } },
    Status: { value: {} },
  })
  client = createCriClient(runtime.endpoint)
  clock = new FakeClock()
  reads = []
  const noted = Object.create(cgroups, {
    read: {
      value: (path: string, file: string) => {
        if (path.includes(web.containers[0]?.id ?? '-')) reads.push(file)
        return cgroups.read(path, file)
      },
    },
  }) as CgroupFsTree
  values = createValues({
    client: { ...client, runtime: counted(client.runtime, work) },
    cgroups: noted,
    procfs: createProcfs({ proc, sys }),
    files: noFiles,
    clock,
    log: new FakeLog(),
  })
})
afterEach(async () => {
  values.close()
  client.close()
  await runtime.close()
  cgroups.close()
  rmSync(directory, { recursive: true })
})

const sweeps = (): number => reads.filter((file) => file === 'cpu.stat').length
type Depth = Parameters<Values['look']>[1] & string
const look = (depth: Depth) => values.look(signal, depth)

describe('one look at the node', () => {
  test('a kubelet that asks for stats and metrics every 10 s costs one sweep in that time', async () => {
    for (let round = 1; round <= 4; round++) {
      const [first, second]: Depth[] = round % 2 === 0 ? ['stats', 'everything'] : ['everything', 'stats']
      const [a, b] = await Promise.all([look(first ?? 'stats'), look(second ?? 'stats')])
      assert.equal(sweeps(), round)
      assert.equal(a.sweep, b.sweep)
      await clock.advance(10_000)
    }
  })

  test('stats alone need no file that only metrics are made from', async () => {
    await look('stats')
    await clock.advance(10_000)
    await look('stats')
    assert.equal(sweeps(), 2)
    assert.equal(reads.includes('io.stat'), false)
  })

  test('whoever asks for stats every two seconds gets the small sweep between the large ones', async () => {
    for (let s = 0; s < 10; s += 2) {
      if (s === 0) await look('everything')
      await look('stats')
      await clock.advance(2_000)
    }
    assert.equal(sweeps(), 5)
    assert.equal(reads.filter((file) => file === 'io.stat').length, 3)
  })

  test('the loop sweeps only where nobody asked, and rests in the end', async () => {
    const life = new AbortController()
    const loop = values.run(life.signal)
    const passed = async (seconds: number): Promise<void> => {
      for (let s = 0; s < seconds; s++) {
        await clock.advance(1_000)
        // Its lists come over a real socket.
        await calm(work)
      }
    }
    await passed(20)
    assert.equal(sweeps(), 0, 'nobody has asked yet')
    for (let round = 0; round < 3; round++) {
      await look('stats')
      await passed(10)
    }
    assert.equal(sweeps(), 3)
    await passed(60)
    assert.equal(sweeps(), 4, 'one more, for the rate of a client that is a little late')
    life.abort()
    await loop
  })

  test('the runtime gives lists for every look, and layers once a minute', async () => {
    for (let s = 0; s < 60; s += 10) {
      await Promise.all([look('stats'), look('everything')])
      await clock.advance(10_000)
    }
    assert.equal(runtime.callsOf('ListContainers').length, 12)
    assert.equal(runtime.callsOf('ListContainerStats').length, 1)
    for (const never of ['ListPodSandboxStats', 'ContainerStats', 'ContainerStatus', 'ImageFsInfo'] as const)
      assert.equal(runtime.callsOf(never).length, 0, never)
  })
})
