// The companion on a node in memory: found values before the first write, the exact way back, debug containers, a pod resized
// through its status, and death at every point of applying and of rolling back.
import { describe, expect, test } from 'vitest'
import {
  guaranteed,
  hard,
  type MemoryFixture,
  makePod,
  mib,
  startFixture,
  tiered,
} from '../../../test/memory-qos/fixture.js'
import type { TargetsInput } from '../../core/memory-qos/targets.js'
import { FakeFiles } from '../../fakes/files.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Files } from '../../ports/files.js'
import { parseActuatedPod } from '../decide/actuated-pod.js'
import { type FoundValues, openFoundValues } from '../found-values.js'
import { rollBack } from './companion.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })
const db = guaranteed('db', '512Mi')
const debugged = makePod(
  'debugged',
  { app: { request: '64Mi', limit: '128Mi' } },
  { ephemeralContainers: [{ name: 'shell' }] },
)
const debuggedDb = makePod(
  'debugged-db',
  { app: { request: '64Mi', limit: '64Mi', cpu: '100m' } },
  { ephemeralContainers: [{ name: 'shell' }] },
)
const path = '/found.json'
const signal = new AbortController().signal

/** Values of somebody else, some of them in files that the companion will write. */
function tune(fixture: MemoryFixture): void {
  fixture.cgroups.kernel.write('/kubepods', 'memory.min', mib(32))
  fixture.cgroups.kernel.write('/kubepods/burstable', 'memory.high', mib(6000))
  fixture.cgroups.kernel.write(fixture.containerPath(web, 'app'), 'memory.low', mib(5))
}

async function node(): Promise<MemoryFixture> {
  const fixture = await startFixture(hard)
  for (const pod of [web, db, debugged, debuggedDb]) await fixture.run(pod)
  tune(fixture)
  return fixture
}

const everything = (fixture: MemoryFixture): Record<string, string> =>
  Object.fromEntries(
    fixture.cgroups
      .walk('/kubepods')
      .flatMap((at) =>
        ['memory.min', 'memory.low', 'memory.high', 'memory.max', 'cpu.weight'].map((file) => [
          `${at} ${file}`,
          fixture.text(at, file) ?? '',
        ]),
      ),
  )

const openNotes = (files: Files): Promise<FoundValues> => openFoundValues({ files, path, bootId: 'boot' })

async function apply(
  fixture: MemoryFixture,
  files: Files,
  input: TargetsInput,
  tree?: CgroupTree,
): Promise<void> {
  const found = await openNotes(files)
  const engine = fixture.newEngine({ found, ...(tree === undefined ? {} : { cgroups: tree }) })
  await engine.pass(input, { signal })
}

const undo = async (
  fixture: MemoryFixture,
  files: Files,
  tree: CgroupTree = fixture.cgroups,
): Promise<unknown> =>
  rollBack({
    cgroups: tree,
    runtime: fixture.runtime,
    found: await openNotes(files),
    pageSize: 4096n,
    timeoutMs: 1000,
    signal,
  })

test('found values are on disk before the first write', async () => {
  const fixture = await node()
  const files = new FakeFiles()
  const write = fixture.cgroups.write.bind(fixture.cgroups)
  let writes = 0
  fixture.cgroups.write = (at, file, value) => {
    const noted = JSON.parse(files.text(path) ?? '{"cgroups":{}}').cgroups[at]?.files[file]
    expect(noted, `${at} ${file}`).toBe(fixture.text(at, file))
    writes++
    write(at, file, value)
  }
  await apply(fixture, files, fixture.input)
  expect(writes).toBeGreaterThan(4)
})

test('rollback restores every value exactly, also after policy changes and a restart', async () => {
  const fixture = await node()
  const before = everything(fixture)
  const files = new FakeFiles()
  await apply(fixture, files, fixture.input)
  await apply(fixture, files, { ...fixture.input, memoryQos: tiered })
  await apply(fixture, files, fixture.input)
  expect(everything(fixture)).not.toEqual(before)
  await undo(fixture, files)
  expect(everything(fixture)).toEqual(before)
  expect(files.text(path)).toBeUndefined()
})

test('what is gone needs no way back, and is forgotten', async () => {
  const fixture = await node()
  const files = new FakeFiles()
  await apply(fixture, files, fixture.input)
  await fixture.end(web)
  await apply(fixture, files, fixture.input)
  expect(files.text(path)).not.toContain('uid-web')
  await fixture.end(db)
  await undo(fixture, files)
  expect(fixture.text('/kubepods', 'memory.min')).toBe(mib(32))
})

test('notes of another boot are of no use and are not followed', async () => {
  const fixture = await node()
  const files = new FakeFiles()
  await apply(fixture, files, fixture.input)
  const found = await openFoundValues({ files, path, bootId: 'next' })
  expect(found.cgroups.size).toBe(0)
})

test('a broken notes file ends the start and is left as it is', async () => {
  const files = new FakeFiles()
  await files.replace(path, '{"version":1')
  await expect(openNotes(files)).rejects.toMatchObject({ code: 'companion.journal' })
  expect(files.text(path)).toBe('{"version":1')
})

describe('debug containers', () => {
  test('not throttled in a Guaranteed pod, by allocatable memory in a Burstable one, never protected', async () => {
    const fixture = await node()
    await apply(fixture, new FakeFiles(), fixture.input)
    const inGuaranteed = fixture.containerPath(debuggedDb, 'shell')
    const inBurstable = fixture.containerPath(debugged, 'shell')
    expect(fixture.text(inGuaranteed, 'memory.high')).toBe('max')
    expect(fixture.text(inBurstable, 'memory.high')).toBe(mib(7200))
    for (const at of [inGuaranteed, inBurstable]) expect(fixture.text(at, 'memory.min')).toBe('0')
  })
})

test('a pod resized through its status: values follow what is in force, not what is wanted', () => {
  const object = (inForce: object | undefined) => ({
    metadata: { name: 'web', uid: 'u' },
    spec: {
      containers: [
        { name: 'app', resources: { requests: { memory: '200Mi' }, limits: { memory: '400Mi' } } },
      ],
    },
    status: {
      qosClass: 'Burstable',
      containerStatuses: [{ name: 'app', ...(inForce === undefined ? {} : { resources: inForce }) }],
    },
  })
  const memory = (inForce: object | undefined) => {
    const { requests, limits } = parseActuatedPod(object(inForce)).containers[0]?.resources ?? {}
    return [requests?.get('memory')?.nanos, limits?.get('memory')?.nanos].map((n) =>
      n === undefined ? undefined : n / 1_000_000_000n / 1024n / 1024n,
    )
  }
  expect(memory({ requests: { memory: '100Mi' }, limits: { memory: '300Mi' } })).toEqual([100n, 300n])
  expect(memory({ requests: { memory: '100Mi' } })).toEqual([100n, undefined])
  expect(memory({})).toEqual([200n, 400n])
  expect(memory(undefined)).toEqual([200n, 400n])
})

/** After `budget` changes of the outside nothing has any effect any more: what kill -9 leaves behind. */
class Mortal {
  private left: number
  constructor(budget: number) {
    this.left = budget
  }
  get isDead(): boolean {
    return this.left <= 0
  }
  spend(): void {
    if (this.isDead) throw new Error('dead')
    this.left -= 1
  }
}

function mortalTree(tree: MemoryFixture['cgroups'], life: Mortal): CgroupTree {
  const proxy = Object.create(tree) as CgroupTree
  proxy.write = (at, file, value) => {
    life.spend()
    tree.write(at, file, value)
  }
  proxy.apply = async (at, values) => {
    for (const [file, value] of Object.entries(values)) proxy.write(at, file, value)
  }
  return proxy
}

const mortalFiles = (files: FakeFiles, life: Mortal): Files => {
  const proxy = Object.create(files) as Files
  proxy.replace = async (at, content, options) => {
    life.spend()
    await files.replace(at, content, options)
  }
  proxy.remove = async (at) => {
    life.spend()
    await files.remove(at)
  }
  return proxy
}

function mortalRuntime(fixture: MemoryFixture, life: Mortal): () => void {
  const alive = fixture.runtime.updateContainerResources
  fixture.runtime.updateContainerResources = async (request, options) => {
    life.spend()
    return alive(request, options)
  }
  return () => {
    fixture.runtime.updateContainerResources = alive
  }
}

describe('killed at every point', () => {
  test('of applying: the next start converges, and the way back is still exact', async () => {
    let points = 0
    for (let budget = 0; ; budget++) {
      const fixture = await node()
      const before = everything(fixture)
      const files = new FakeFiles()
      const life = new Mortal(budget)
      const heal = mortalRuntime(fixture, life)
      await apply(fixture, mortalFiles(files, life), fixture.input, mortalTree(fixture.cgroups, life)).catch(
        () => undefined,
      )
      heal()
      await apply(fixture, files, fixture.input)
      const fresh = await node()
      await apply(fresh, new FakeFiles(), fresh.input)
      expect(everything(fixture), `killed after ${budget} changes`).toEqual(everything(fresh))
      await undo(fixture, files)
      expect(everything(fixture), `rolled back after ${budget} changes`).toEqual(before)
      points++
      if (!life.isDead) break
    }
    expect(points).toBeGreaterThan(12)
  })

  test('of rolling back: run again, it ends where it should', async () => {
    let points = 0
    for (let budget = 0; ; budget++) {
      const fixture = await node()
      const before = everything(fixture)
      const files = new FakeFiles()
      await apply(fixture, files, fixture.input)
      const life = new Mortal(budget)
      const heal = mortalRuntime(fixture, life)
      await undo(fixture, mortalFiles(files, life), mortalTree(fixture.cgroups, life)).catch(() => undefined)
      heal()
      await undo(fixture, files)
      expect(everything(fixture), `killed after ${budget} changes`).toEqual(before)
      points++
      if (!life.isDead) break
    }
    expect(points).toBeGreaterThan(10)
  })
})
