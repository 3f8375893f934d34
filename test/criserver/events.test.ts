// GetContainerEvents: a runtime's own stream as it is; for a runtime without one, events that its CRI has confirmed.
import assert from 'node:assert/strict'
import { afterEach, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import {
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  ContainerStatus,
} from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState, type NodeState } from '../../src/fakes/cri/node-state.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Node {
  readonly state: NodeState
  readonly runtime: FakeRuntime
  readonly client: CriClient
  /** What came, as `name created`. */
  readonly events: ContainerEventResponse[]
}

const words: readonly string[] = ['created', 'started', 'stopped', 'deleted']
const image = 'registry.example/app:1'

async function start(more: (state: NodeState) => Scripts = () => ({})): Promise<Node> {
  const state = createNodeState({ images: [image] })
  const { GetContainerEvents: _, ...answers } = nodeAnswers(state)
  const runtime = await startFakeRuntime({ ...answers, ...more(state) })
  closers.push(() => runtime.close())
  const server = await startServerFixture(runtime.endpoint)
  closers.push(() => server.close())
  const client = createCriClient(server.endpoint)
  closers.push(() => client.close())
  const events: ContainerEventResponse[] = []
  const stop = new AbortController()
  closers.push(() => stop.abort())
  const stream = client.runtime.getContainerEvents(
    {},
    { timeoutMs: Number.POSITIVE_INFINITY, signal: stop.signal },
  )
  const read = async (): Promise<void> => {
    for await (const event of stream) events.push(event)
  }
  read().catch(() => undefined)
  // Its first look at the runtime is what later events are compared with.
  await expect.poll(() => runtime.callsOf('ListContainers').length).toBeGreaterThan(1)
  return { state, runtime, client, events }
}

const podConfig = (name: string) => ({ metadata: { name, uid: `uid-${name}`, namespace: 'default' } })

async function runContainer({ client }: Node, podSandboxId: string, name: string): Promise<string> {
  const { containerId } = await client.runtime.createContainer({
    podSandboxId,
    config: { metadata: { name }, image: { image } },
    sandboxConfig: podConfig('web'),
  })
  await client.runtime.startContainer({ containerId })
  return containerId
}

const told = ({ events }: Node, names: Readonly<Record<string, string>>): string[] =>
  events.map((e) => `${names[e.containerId] ?? e.containerId} ${words[e.containerEventType] ?? '?'}`)

describe('a runtime without events', () => {
  test('a pod from its sandbox to its end: each event once, in order, with statuses that agree', async () => {
    const node = await start()
    const { client, state } = node
    const { podSandboxId: sandbox } = await client.runtime.runPodSandbox({ config: podConfig('web') })
    const app = await runContainer(node, sandbox, 'app')
    const names = { [sandbox]: 'sandbox', [app]: 'app' }
    await expect.poll(() => told(node, names)).toContain('app started')
    state.exitContainer(app, { exitCode: 3 })
    await expect.poll(() => told(node, names)).toContain('app stopped')
    const stopped = node.events.at(-1)
    assert.equal(stopped?.podSandboxStatus?.metadata?.uid, 'uid-web')
    assert.deepEqual(
      stopped.containersStatuses.map((c) => [c.id, c.state, c.exitCode]),
      [[app, ContainerState.CONTAINER_EXITED, 3]],
    )
    await client.runtime.stopPodSandbox({ podSandboxId: sandbox })
    await client.runtime.removePodSandbox({ podSandboxId: sandbox })
    await expect.poll(() => told(node, names)).toContain('sandbox deleted')
    const of = (name: string): string[] => told(node, names).filter((e) => e.startsWith(name))
    assert.deepEqual(
      of('sandbox'),
      words.map((word) => `sandbox ${word}`),
    )
    assert.deepEqual(
      of('app'),
      words.map((word) => `app ${word}`),
    )
    assert.equal(told(node, names)[0], 'sandbox created')
    assert.equal(told(node, names).at(-1), 'sandbox deleted')
    const times = node.events.map((e) => e.createdAt)
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => (a < b ? -1 : 1)),
      'times increase',
    )
    assert.equal(node.events.at(-1)?.podSandboxStatus?.metadata?.uid, 'uid-web', 'also when it has gone')
  })

  test('what ran and ended between two looks has all its events', async () => {
    const node = await start((state) => ({
      // It ends before anything can be asked.
      StartContainer: ({ containerId }) => {
        const c = state.containers.get(containerId)
        if (c !== undefined) state.startContainer(c)
        state.exitContainer(containerId, { exitCode: 0 })
        return { value: {} }
      },
    }))
    const { podSandboxId: sandbox } = await node.client.runtime.runPodSandbox({ config: podConfig('web') })
    const app = await runContainer(node, sandbox, 'app')
    await expect
      .poll(() => told(node, { [app]: 'app' }).filter((e) => e.startsWith('app')))
      .toEqual(['app created', 'app started', 'app stopped'])
  })

  test('a list that is ahead of ContainerStatus tells nothing until both agree', async () => {
    let isBehind = true
    const node = await start((state) => ({
      ContainerStatus: ({ containerId }) => {
        const c = state.containers.get(containerId)
        if (c === undefined) return { code: 'NOT_FOUND', message: 'gone' }
        const status = isBehind
          ? ContainerStatus.fromPartial({ ...c.status, state: ContainerState.CONTAINER_RUNNING })
          : c.status
        return { value: { status } }
      },
    }))
    const { podSandboxId: sandbox } = await node.client.runtime.runPodSandbox({ config: podConfig('web') })
    const app = await runContainer(node, sandbox, 'app')
    await expect.poll(() => told(node, { [app]: 'app' })).toContain('app started')
    node.state.exitContainer(app, { exitCode: 1 })
    const before = node.runtime.callsOf('ListContainers').length
    await expect.poll(() => node.runtime.callsOf('ListContainers').length).toBeGreaterThan(before + 2)
    assert.ok(!told(node, { [app]: 'app' }).includes('app stopped'))
    isBehind = false
    await expect.poll(() => told(node, { [app]: 'app' })).toContain('app stopped')
  })

  test('what happens while the runtime does not answer is told when it does', async () => {
    const node = await start()
    const { podSandboxId: sandbox } = await node.client.runtime.runPodSandbox({ config: podConfig('web') })
    const app = await runContainer(node, sandbox, 'app')
    await expect.poll(() => told(node, { [app]: 'app' })).toContain('app started')
    node.runtime.cutAll()
    node.state.exitContainer(app, { exitCode: 1 })
    await node.runtime.restart()
    await expect.poll(() => told(node, { [app]: 'app' })).toContain('app stopped')
  })
})

test("a runtime's own events pass as they are", async () => {
  const runtime = await startFakeRuntime({
    GetContainerEvents: {
      values: [{ containerId: 'own', containerEventType: ContainerEventType.CONTAINER_STOPPED_EVENT }],
      ending: 'hang',
    },
  })
  closers.push(() => runtime.close())
  const server = await startServerFixture(runtime.endpoint)
  closers.push(() => server.close())
  const client = createCriClient(server.endpoint)
  closers.push(() => client.close())
  for await (const event of client.runtime.getContainerEvents({}, { timeoutMs: 30_000 })) {
    assert.equal(event.containerId, 'own')
    break
  }
  assert.equal(runtime.callsOf('ListContainers').length, 0)
})
