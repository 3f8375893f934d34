// The Stream* RPCs on a runtime that has only the unary ones.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { Container } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { manyContainers } from '../../src/fakes/cri/shapes.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(scripts: Scripts) {
  const runtime = await startFakeRuntime(scripts)
  closers.push(() => runtime.close())
  const server = await startServerFixture(runtime.endpoint)
  closers.push(() => server.close())
  const client = createCriClient(server.endpoint)
  closers.push(() => client.close())
  return { runtime, server, client }
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const message of stream) list.push(message)
  return list
}

const containers = manyContainers(4000)
const bySandbox = new Map<string, typeof containers>()
for (const c of containers) {
  const id = c.podSandboxId ?? ''
  bySandbox.set(id, [...(bySandbox.get(id) ?? []), c])
}

const unary: Scripts = {
  ListPodSandbox: { value: { items: [...bySandbox.keys()].map((id) => ({ id })) } },
  ListContainers: ({ filter }) => ({
    value: {
      containers: containers.filter(
        (c) => (filter?.podSandboxId ?? '') === '' || filter?.podSandboxId === c.podSandboxId,
      ),
    },
  }),
}

describe('Stream* over unary answers', () => {
  test('StreamContainers asks sandbox by sandbox and gives every container once, in bounded messages', async () => {
    const { client, runtime } = await start(unary)
    const messages = await all(client.runtime.streamContainers({}))
    assert.ok(messages.length > 1)
    assert.ok(messages.every((m) => m.containers.length > 0))
    const ids = messages.flatMap((m) => m.containers.map((c) => c.id))
    assert.deepEqual(
      ids,
      containers.map((c) => c.id),
    )
    assert.equal(runtime.callsOf('ListContainers').length, bySandbox.size)
    assert.ok(runtime.callsOf('ListContainers').every((c) => c.request.filter?.podSandboxId !== ''))
  })

  test('a filter by container or sandbox is one question; other filters go with each question', async () => {
    const { client, runtime } = await start(unary)
    await all(client.runtime.streamContainers({ filter: { podSandboxId: [...bySandbox.keys()][3] ?? '' } }))
    assert.equal(runtime.callsOf('ListContainers').length, 1)
    runtime.clearCalls()
    await all(client.runtime.streamContainers({ filter: { labelSelector: { app: 'x' } } }))
    assert.ok(runtime.callsOf('ListContainers').every((c) => c.request.filter?.labelSelector.app === 'x'))
  })

  test('items go through as bytes: fields that we do not know survive', async () => {
    const odd = Container.encode(Container.fromPartial({ id: 'x' })).finish()
    const later = Buffer.concat([odd, Buffer.from([0xc2, 0x3e, 5]), Buffer.from('later')])
    const body = Buffer.concat([Buffer.from([10, later.length]), later])
    const { client } = await start({
      ...unary,
      ListPodSandbox: { value: { items: [{ id: 'one' }] } },
      ListContainers: { bytes: body },
    })
    const [message] = await all(client.runtime.streamContainers({}))
    assert.ok(message?.containers[0] !== undefined)
    assert.deepEqual(
      Container.encode(message.containers[0]).finish().toString(),
      new Uint8Array(later).toString(),
    )
  })

  test('the other lists', async () => {
    const { client } = await start({
      ...unary,
      ListPodSandbox: { value: { items: [{ id: 'p1' }, { id: 'p2' }] } },
      ListImages: { value: { images: [{ id: 'i1' }] } },
      ListContainerStats: ({ filter }) => ({
        value: { stats: [{ attributes: { id: `c-${filter?.podSandboxId ?? ''}` } }] },
      }),
    })
    assert.deepEqual(
      (await all(client.runtime.streamPodSandboxes({}))).flatMap((m) => m.podSandboxes.map((s) => s.id)),
      ['p1', 'p2'],
    )
    assert.deepEqual(
      (await all(client.image.streamImages({}))).flatMap((m) => m.images.map((s) => s.id)),
      ['i1'],
    )
  })

  test('an empty list is a stream without messages that ends well', async () => {
    const { client } = await start({ ...unary, ListPodSandbox: { value: {} } })
    assert.deepEqual(await all(client.runtime.streamContainers({})), [])
  })

  test('a runtime that has the stream keeps it', async () => {
    const { client, runtime } = await start({
      ...unary,
      StreamContainers: { values: [{ containers: [{ id: 'own' }] }] },
    })
    assert.deepEqual(
      (await all(client.runtime.streamContainers({}))).map((m) => m.containers[0]?.id),
      ['own'],
    )
    assert.equal(runtime.callsOf('ListContainers').length, 0)
  })

  test("values of a runtime's own stream are not passed on uncompleted and with other labels than declared", async () => {
    const listed = (id: string) => [{ attributes: { id } }]
    const { client, runtime } = await start({
      ...unary,
      ListPodSandbox: { value: { items: [{ id: 'p1' }] } },
      ListContainerStats: { value: { stats: listed('completed') } },
      StreamContainerStats: { values: [{ containerStats: listed('raw') }] },
      StreamPodSandboxMetrics: { values: [{ podSandboxMetrics: [{ podSandboxId: 'raw' }] }] },
      ListPodSandboxMetrics: { value: { podMetrics: [{ podSandboxId: 'p1' }] } },
    })
    const stats = await all(client.runtime.streamContainerStats({}))
    assert.deepEqual(
      stats.flatMap((m) => m.containerStats.map((s) => s.attributes?.id)),
      ['completed'],
    )
    await all(client.runtime.streamPodSandboxMetrics({}))
    assert.equal(runtime.callsOf('StreamContainerStats').length, 0)
    assert.equal(runtime.callsOf('StreamPodSandboxMetrics').length, 0)
    assert.equal(runtime.callsOf('ListPodSandboxMetrics').length, 1)
  })

  test('a runtime without stream and list stays UNIMPLEMENTED; a failing list is passed on', async () => {
    const none = await start({})
    const error = await all(none.client.runtime.streamContainers({})).catch((e: unknown) => e)
    assert.ok(isKeelsonError(error) && error.code === 'runtime.unimplemented', String(error))
    const failing = await start({ ...unary, ListContainers: { code: 'INTERNAL', message: 'disk on fire' } })
    await assert.rejects(all(failing.client.runtime.streamContainers({})), /INTERNAL: disk on fire/)
  })
})
