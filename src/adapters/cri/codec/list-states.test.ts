// Ids and states as the whole decoder reads them, from a runtime with everything in its lists.
import { afterEach, expect, test } from 'vitest'
import { type ContainerState, PodSandboxState } from '../../../cri-api/api.js'
import type { Scripts } from '../../../fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../../fakes/cri/fake-runtime.js'
import { manyContainers, unknownField } from '../../../fakes/cri/shapes.js'
import type { CriClient } from '../../../ports/runtime.js'
import { createCriClient } from '../client/client.js'

let runtime: FakeRuntime | undefined
let client: CriClient | undefined
afterEach(async () => {
  client?.close()
  await runtime?.close()
})

async function connectTo(scripts: Scripts): Promise<CriClient> {
  runtime = await startFakeRuntime(scripts)
  client = createCriClient(runtime.endpoint, { timeoutMs: 5000 })
  return client
}

test('a thousand containers in every state', async () => {
  const containers = manyContainers(1000).map((c, i) => ({
    ...c,
    state: (i % 4) as ContainerState,
    annotations: { 'io.kubernetes.container.hash': `${i}`, long: 'x'.repeat(300) },
  }))
  const { states, runtime: whole } = await connectTo({ ListContainers: { value: { containers } } })
  const listed = (await whole.listContainers({})).containers
  expect(await states.containers()).toEqual(new Map(listed.map(({ id, state }) => [id, state])))
  expect(listed).toHaveLength(1000)
})

test('sandboxes, and fields that nobody knows yet', async () => {
  const items = [
    { id: 'a', state: PodSandboxState.SANDBOX_READY, labels: { a: 'b' }, createdAt: 2n ** 62n },
    { id: 'b', state: PodSandboxState.SANDBOX_NOTREADY, metadata: { name: 'b', attempt: 7 } },
  ]
  const { states } = await connectTo({ ListPodSandbox: { value: { items }, appendBytes: unknownField } })
  expect([...(await states.sandboxes())]).toEqual([
    ['a', 0],
    ['b', 1],
  ])
})

test('nothing is an empty map', async () => {
  const { states } = await connectTo({ ListContainers: { value: {} } })
  expect((await states.containers()).size).toBe(0)
})

for (const { name, bytes } of [
  { name: 'zeros', bytes: new Uint8Array(8) },
  { name: 'an entry that ends too early', bytes: new Uint8Array([10, 200, 1, 10, 3]) },
  { name: 'a wire type that there is not', bytes: new Uint8Array([10, 2, 15, 1]) },
])
  test(`an answer of ${name} is an error and no empty list`, async () => {
    const { states } = await connectTo({ ListContainers: { bytes } })
    await expect(states.containers()).rejects.toMatchObject({ code: expect.stringMatching(/^runtime\./) })
  })

test('a runtime that refuses is an error like any other', async () => {
  const { states } = await connectTo({ ListPodSandbox: { code: 'UNAVAILABLE', message: 'starting' } })
  await expect(states.sandboxes()).rejects.toMatchObject({ code: 'runtime.unavailable' })
})
