// `unified` on a runtime that drops it, and UpdatePodSandboxResources on one without it: what reaches the kernel.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { createCgroupFinder } from '../../src/criserver/unified/cgroup-of.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const id = 'c'.repeat(64)
const sandboxId = 'a'.repeat(64)
const parent = '/kubepods/burstable/pod1'
const own = `${parent}/${id}`
const MiB = 1024 * 1024

interface Fixture {
  readonly parent?: string
  readonly scripts?: Scripts
  /** What the runtime does to the kernel on an update. */
  readonly onUpdate?: (tree: FakeCgroupTree) => void
  readonly version?: 'v1' | 'v2'
  /** Of the pod. */
  readonly uid?: string
}

async function fixture(o: Fixture = {}) {
  const tree = new FakeCgroupTree(o.version === undefined ? {} : { version: o.version })
  const pod = o.parent ?? parent
  const path = `${pod}/${id}`
  let started = false
  const runtime = await startFakeRuntime({
    CreateContainer: { value: { containerId: id } },
    StartContainer: async () => {
      await tree.ensure(path)
      started = true
      return { value: {} }
    },
    ContainerStatus: () => ({
      value: { status: { id }, info: { info: JSON.stringify({ pid: started ? 7 : 0 }) } },
    }),
    PodSandboxStatus: {
      value: { status: { id: sandboxId, metadata: { uid: o.uid ?? '1' } }, info: { info: '{"pid":8}' } },
    },
    UpdateContainerResources: () => {
      o.onUpdate?.(tree)
      return { value: {} }
    },
    RemoveContainer: { value: {} },
    ...o.scripts,
  })
  closers.push(() => runtime.close())
  await tree.ensure(`${pod}/${sandboxId}`)
  const upstream = createCriClient(runtime.endpoint)
  closers.push(() => upstream.close())
  const cgroupFinder = createCgroupFinder({
    runtime: upstream.runtime,
    procfs: {
      cgroupOf: (pid) => {
        const at = pid === 7 ? `${path}/init.scope` : `${pod}/${sandboxId}`
        return { unified: at, controllers: new Map([['memory', at]]) }
      },
    },
    cgroupVersion: tree.version,
  })
  const server = await startServerFixture(runtime.endpoint, { services: { cgroups: tree, cgroupFinder } })
  closers.push(() => server.close())
  const client = createCriClient(server.endpoint)
  closers.push(() => client.close())
  const read = (file: string, at = path): string =>
    Buffer.from(tree.read(at, file) ?? [])
      .toString()
      .trim()
  const create = (unified: Record<string, string>) =>
    client.runtime.createContainer({ podSandboxId: sandboxId, config: { linux: { resources: { unified } } } })
  return {
    tree,
    runtime,
    server,
    client,
    read,
    create,
    start: () => client.runtime.startContainer({ containerId: id }),
  }
}

const high = String(96 * MiB)
const memoryWrites = (tree: FakeCgroupTree) => tree.calls.filter((c) => c.file?.startsWith('memory.'))

/** The caller of the start leaves when the signal says so, and the values still come into the kernel. */
async function expectValuesAfterLeaving(b: Awaited<ReturnType<typeof fixture>>, signal: AbortSignal) {
  await b.create({ 'memory.high': high })
  await b.tree.ensure(own)
  b.tree.kernel.write(own, 'memory.high', 'max')
  await b.client.runtime.startContainer({ containerId: id }, { signal, timeoutMs: 5_000 }).catch(() => {})
  await expect.poll(() => b.read('memory.high')).toBe(high)
}

describe('unified on a runtime that drops it', () => {
  test('written after the start, when the cgroup is there; the request was forwarded whole', async () => {
    const b = await fixture()
    await b.create({ 'memory.high': high, 'memory.min': '4097' })
    assert.deepEqual(memoryWrites(b.tree), [])
    await b.start()
    assert.equal(b.read('memory.high'), high)
    assert.equal(b.read('memory.min'), '4096', 'the kernel keeps whole pages')
    const [call] = b.runtime.callsOf('CreateContainer')
    assert.deepEqual(call?.request.config?.linux?.resources?.unified, {
      'memory.high': high,
      'memory.min': '4097',
    })
  })

  test('nothing is written where the runtime brought the values itself', async () => {
    const b = await fixture()
    await b.tree.ensure(own)
    b.tree.kernel.write(own, 'memory.high', high)
    await b.create({ 'memory.high': high })
    await b.start()
    assert.deepEqual(memoryWrites(b.tree), [])
  })

  test('an update that names a value gets it; one that does not leaves it, also when the runtime resets it', async () => {
    const b = await fixture({ onUpdate: (tree) => tree.kernel.write(own, 'memory.high', 'max') })
    await b.create({ 'memory.high': high })
    await b.start()
    await b.client.runtime.updateContainerResources({
      containerId: id,
      linux: { unified: { 'memory.high': String(112 * MiB) } },
    })
    assert.equal(b.read('memory.high'), String(112 * MiB))
    await b.client.runtime.updateContainerResources({ containerId: id, linux: { cpuShares: 512n } })
    assert.equal(b.read('memory.high'), String(112 * MiB))
  })

  test('what somebody else wrote since is kept by an update that does not name it', async () => {
    const b = await fixture()
    await b.create({ 'memory.high': high })
    await b.start()
    b.tree.kernel.write(own, 'memory.high', String(50 * MiB))
    await b.client.runtime.updateContainerResources({ containerId: id, linux: { cpuShares: 512n } })
    assert.equal(b.read('memory.high'), String(50 * MiB))
  })

  test('an update that sets a file by another field of CRI is not undone', async () => {
    const b = await fixture({ onUpdate: (tree) => tree.kernel.write(own, 'memory.max', String(256 * MiB)) })
    await b.create({ 'memory.max': String(128 * MiB), 'memory.high': high })
    await b.start()
    const linux = { memoryLimitInBytes: BigInt(256 * MiB) }
    await b.client.runtime.updateContainerResources({ containerId: id, linux })
    assert.deepEqual([b.read('memory.max'), b.read('memory.high')], [String(256 * MiB), high])
  })

  test('a server that was started since knows of no request, and keeps what only one can have set', async () => {
    const reset = (tree: FakeCgroupTree): void => {
      tree.kernel.write(own, 'memory.high', 'max')
      tree.kernel.write(own, 'memory.low', '4096')
    }
    const b = await fixture({ onUpdate: reset })
    await b.start()
    b.tree.kernel.write(own, 'memory.high', high)
    await b.client.runtime.updateContainerResources({ containerId: id, linux: { cpuShares: 512n } })
    assert.equal(b.read('memory.high'), high)
    assert.equal(b.read('memory.low'), '4096', 'nobody had asked for the 0 before')
  })

  test('a caller that leaves after the start has not taken the values with it', async () => {
    const gone = new AbortController()
    let isStarted = false
    const b = await fixture({
      scripts: {
        StartContainer: () => {
          isStarted = true
          return { value: {} }
        },
        ContainerStatus: async () => {
          if (isStarted) gone.abort()
          await sleep(50)
          return { value: { status: { id }, info: { info: JSON.stringify({ pid: 7 }) } } }
        },
      },
    })
    await expectValuesAfterLeaving(b, gone.signal)
  })

  test('a start that its caller gives up, and that the runtime brings to its end: the values come later', async () => {
    const gone = new AbortController()
    let isUp = false
    const b = await fixture({
      scripts: {
        StartContainer: async () => {
          gone.abort()
          await sleep(200)
          isUp = true
          return { value: {} }
        },
        ContainerStatus: () => ({
          value: { status: { id }, info: { info: JSON.stringify({ pid: isUp ? 7 : 0 }) } },
        }),
      },
    })
    await expectValuesAfterLeaving(b, gone.signal)
  })

  test('the beginning of an id is enough, as for the runtime', async () => {
    const b = await fixture()
    await b.create({ 'memory.high': high })
    await b.client.runtime.startContainer({ containerId: id.slice(0, 12) })
    assert.equal(b.read('memory.high'), high)
  })

  test('a restarted container (created anew) gets the values of its own request', async () => {
    const b = await fixture()
    await b.create({ 'memory.high': high })
    await b.start()
    await b.client.runtime.removeContainer({ containerId: id })
    b.tree.kernel.write(own, 'memory.high', 'max')
    await b.create({ 'memory.high': String(64 * MiB) })
    await b.start()
    assert.equal(b.read('memory.high'), String(64 * MiB))
  })

  test('a value that the kernel refuses, or a name that is no resource, does not fail the call', async () => {
    const b = await fixture()
    b.tree.refuse(own, 'memory.high', 'EINVAL')
    await b.create({
      'memory.high': 'much',
      'cgroup.freeze': '1',
      '../memory.max': '1',
      'memory.min': '8192',
    })
    await b.start()
    assert.equal(b.read('memory.min'), '8192')
    assert.ok(!b.tree.calls.some((c) => c.file === 'cgroup.freeze' || c.file?.includes('/')))
    assert.deepEqual(b.server.log.messages('error'), ['failed to write a unified value of a container'])
  })

  test('a failed start is passed on and nothing is written', async () => {
    const b = await fixture({ scripts: { StartContainer: { code: 'UNKNOWN', message: 'no' } } })
    await b.create({ 'memory.high': high })
    await assert.rejects(b.start(), /UNKNOWN: no/)
    assert.deepEqual(memoryWrites(b.tree), [])
  })
})

describe('UpdatePodSandboxResources on a runtime without it', () => {
  const request = {
    podSandboxId: sandboxId,
    resources: {
      cpuShares: 1024n,
      cpuQuota: 50_000n,
      cpuPeriod: 100_000n,
      memoryLimitInBytes: BigInt(128 * MiB),
      unified: { 'memory.min': '8192' },
    },
    overhead: { memoryLimitInBytes: BigInt(16 * MiB), cpuQuota: 5_000n },
  }

  test('cgroup v2: weight, quota, limit and unified of the pod, overhead included', async () => {
    const b = await fixture()
    await b.client.runtime.updatePodSandboxResources(request)
    const values = ['cpu.weight', 'cpu.max', 'memory.max', 'memory.min'].map((f) => b.read(f, parent))
    assert.deepEqual(values, ['39', '55000 100000', String(144 * MiB), '8192'])
  })

  test("a slice is systemd's: UNIMPLEMENTED stays, until the values are there", async () => {
    const slice = '/kubepods.slice/kubepods-pod1.slice'
    const b = await fixture({ parent: slice })
    const limit = { podSandboxId: sandboxId, resources: { memoryLimitInBytes: BigInt(128 * MiB) } }
    const error = await b.client.runtime.updatePodSandboxResources(limit).catch((e: unknown) => e)
    assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented')
    assert.equal(b.read('memory.max', slice), 'max')
    b.tree.kernel.write(slice, 'memory.max', String(128 * MiB))
    await b.client.runtime.updatePodSandboxResources(limit)
  })

  for (const [shared, uid] of [
    ['/k8s.io', '1'],
    ['/kubepods/burstable/pod11', '2'],
    ['/kubepods', ''],
  ] as const)
    test(`a parent that is not this pod's alone is not written: ${shared}`, async () => {
      const b = await fixture({ parent: shared, uid })
      const error = await b.client.runtime.updatePodSandboxResources(request).catch((e: unknown) => e)
      assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented')
      assert.equal(b.read('memory.max', shared), 'max')
    })

  test('a runtime that has it is left alone', async () => {
    const b = await fixture({ scripts: { UpdatePodSandboxResources: { value: {} } } })
    await b.client.runtime.updatePodSandboxResources(request)
    assert.equal(b.read('memory.max', parent), 'max')
  })

  test('a value that the kernel refuses is the caller’s error', async () => {
    const b = await fixture()
    b.tree.refuse(parent, 'memory.max', 'EINVAL')
    await assert.rejects(b.client.runtime.updatePodSandboxResources(request), /INVALID_ARGUMENT.*memory\.max/)
  })
})
