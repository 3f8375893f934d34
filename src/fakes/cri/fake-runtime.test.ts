// The fake runtime itself: scripts, the call log, restarts, and the stateful node behind it.
import { afterEach, describe, expect, test } from 'vitest'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { ContainerEventType, ContainerState, PodSandboxState } from '../../cri-api/api.js'
import type { CriClient } from '../../ports/runtime.js'
import type { Scripts } from './answers.js'
import { type FakeRuntime, startFakeRuntime } from './fake-runtime.js'
import { nodeAnswers } from './node-answers.js'
import { createNodeState } from './node-state.js'
import { podStatsList, vmHandler, vmPodStats, vmStatus, windowsPodStats } from './shapes.js'

const open: { close(): void | Promise<void> }[] = []
afterEach(async () => {
  for (const o of open.splice(0)) await o.close()
})

async function pair(scripts: Scripts): Promise<{ rt: FakeRuntime; cri: CriClient }> {
  const rt = await startFakeRuntime(scripts)
  const cri = createCriClient(rt.endpoint, { timeoutMs: 5000 })
  open.push(cri, rt)
  return { rt, cri }
}

describe('scripts', () => {
  test('one answer a call, the last one for ever, and a new script begins anew', async () => {
    const { rt, cri } = await pair({
      Version: [{ code: 'UNAVAILABLE' }, { value: { version: '1' } }, { value: { version: '2' } }],
    })
    const ask = () =>
      cri.runtime.version({}).then(
        (v) => v.version,
        (e: { code: string }) => e.code,
      )
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
      'runtime.unavailable',
      '1',
      '2',
      '2',
    ])
    rt.script('Version', { value: { version: '3' } })
    expect(await ask()).toBe('3')
    expect(rt.callsOf('Version')).toHaveLength(5)
    rt.clearCalls()
    expect(rt.calls).toEqual([])
  })

  test('an answer may be computed from the request and the number of the call', async () => {
    const { cri } = await pair({
      ContainerStatus: (q, { nth }) => ({ value: { status: { id: `${q.containerId}-${nth}` } } }),
    })
    expect((await cri.runtime.containerStatus({ containerId: 'a' })).status?.id).toBe('a-0')
    expect((await cri.runtime.containerStatus({ containerId: 'b' })).status?.id).toBe('b-1')
  })

  test('a script that throws is an INTERNAL error that says so', async () => {
    const { cri } = await pair({
      Version: () => {
        throw new Error('wrong script')
      },
    })
    await expect(cri.runtime.version({})).rejects.toThrow('fake runtime: Error: wrong script')
  })

  test('Windows and VM shapes arrive as written', async () => {
    const { cri } = await pair({
      Status: { value: vmStatus },
      ListPodSandboxStats: podStatsList(windowsPodStats('win', 5n), vmPodStats('vm', 6n)),
    })
    const { stats } = await cri.runtime.listPodSandboxStats({ filter: {} })
    expect(stats[0]?.linux).toBeUndefined()
    expect(stats[0]?.windows?.memory?.commitMemoryBytes?.value).toBe(60_000_000n)
    expect(stats[0]?.windows?.containers[0]?.memory?.pageFaults).toBeUndefined()
    expect(stats[1]?.linux?.network).toBeUndefined()
    expect(stats[1]?.linux?.cpu?.usageNanoCores).toBeUndefined()
    expect((await cri.runtime.status({ verbose: true })).runtimeHandlers.map((h) => h.name)).toContain(
      vmHandler,
    )
  })
})

describe('the stateful node', () => {
  const config = {
    metadata: { name: 'web', uid: 'u1', namespace: 'default', attempt: 0 },
    logDirectory: '/var/log/pods/default_web_u1',
    labels: { app: 'web' },
  }
  const app = {
    metadata: { name: 'app', attempt: 0 },
    image: { image: 'busybox:1' },
    logPath: 'app/0.log',
    labels: { app: 'web' },
    linux: { resources: { memoryLimitInBytes: 1000n, unified: { 'memory.high': '900' } } },
  }

  test('a pod lives from sandbox to removal and is listed as it is', async () => {
    const node = createNodeState({ nowNanos: () => 42n })
    const { cri } = await pair(nodeAnswers(node))
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config })
    const create = () => cri.runtime.createContainer({ podSandboxId, config: app })
    await expect(create()).rejects.toMatchObject({ code: 'runtime.not-found' })
    await cri.image.pullImage({ image: app.image })
    expect((await cri.image.imageStatus({ image: app.image })).image?.repoTags).toEqual(['busybox:1'])
    const { containerId } = await create()
    await expect(create()).rejects.toThrow('is reserved')
    await cri.runtime.startContainer({ containerId })

    const running = { state: { state: ContainerState.CONTAINER_RUNNING }, labelSelector: { app: 'web' } }
    const { containers } = await cri.runtime.listContainers({ filter: running })
    expect(containers.map((c) => [c.id, c.podSandboxId])).toEqual([[containerId, podSandboxId]])
    const none = await cri.runtime.listContainers({ filter: { labelSelector: { app: 'other' } } })
    expect(none.containers).toEqual([])

    await cri.runtime.updateContainerResources({
      containerId,
      linux: { memoryLimitInBytes: 2000n, unified: { 'memory.min': '10' } },
    })
    const { status, info } = await cri.runtime.containerStatus({ containerId, verbose: true })
    expect(status?.logPath).toBe('/var/log/pods/default_web_u1/app/0.log')
    expect(status?.startedAt).toBe(42n)
    expect(status?.resources?.linux).toMatchObject({
      memoryLimitInBytes: 2000n,
      unified: { 'memory.high': '900', 'memory.min': '10' },
    })
    expect(JSON.parse(info.info ?? '')).toMatchObject({ sandboxID: podSandboxId })

    node.exitContainer(containerId, { exitCode: 137, reason: 'OOMKilled' })
    const dead = (await cri.runtime.containerStatus({ containerId })).status
    expect([dead?.state, dead?.exitCode, dead?.reason]).toEqual([
      ContainerState.CONTAINER_EXITED,
      137,
      'OOMKilled',
    ])

    await cri.runtime.stopPodSandbox({ podSandboxId })
    const listed = await cri.runtime.listPodSandbox({})
    expect(listed.items.map((s) => s.state)).toEqual([PodSandboxState.SANDBOX_NOTREADY])
    await cri.runtime.removePodSandbox({ podSandboxId })
    await cri.runtime.removePodSandbox({ podSandboxId })
    expect((await cri.runtime.listPodSandbox({})).items).toEqual([])
    await expect(cri.runtime.containerStatus({ containerId })).rejects.toMatchObject({
      code: 'runtime.not-found',
    })
  })

  test('it survives a restart of the server, and failures can stand in front of its answers', async () => {
    const node = createNodeState({ images: ['busybox:1'] })
    const answers = nodeAnswers(node)
    const { rt, cri } = await pair({
      ...answers,
      RunPodSandbox: [{ code: 'UNKNOWN' }, answers.RunPodSandbox],
    })
    await expect(cri.runtime.runPodSandbox({ config })).rejects.toMatchObject({ code: 'runtime.failed' })
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config })
    await rt.restart()
    await expect.poll(() => cri.state).toBe('idle') // a call before that may still take the dying connection
    const { items } = await cri.runtime.listPodSandbox({}, { waitForReady: true })
    expect(items.map((s) => s.id)).toEqual([podSandboxId])
  })

  test('events follow a container’s life', async () => {
    const node = createNodeState({ images: ['busybox:1'] })
    const { rt, cri } = await pair(nodeAnswers(node))
    const stop = new AbortController()
    const types: ContainerEventType[] = []
    const reading = (async () => {
      const events = cri.runtime.getContainerEvents(
        {},
        { timeoutMs: Number.POSITIVE_INFINITY, signal: stop.signal },
      )
      for await (const event of events) types.push(event.containerEventType)
    })()
    await expect.poll(() => rt.callsOf('GetContainerEvents').length).toBe(1)
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config })
    const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: app })
    await cri.runtime.startContainer({ containerId })
    await cri.runtime.stopContainer({ containerId, timeout: 1n })
    await cri.runtime.removeContainer({ containerId })
    await expect
      .poll(() => types)
      .toEqual([
        ContainerEventType.CONTAINER_CREATED_EVENT,
        ContainerEventType.CONTAINER_STARTED_EVENT,
        ContainerEventType.CONTAINER_STOPPED_EVENT,
        ContainerEventType.CONTAINER_DELETED_EVENT,
      ])
    stop.abort()
    await expect(reading).rejects.toMatchObject({ code: 'runtime.cancelled' })
  })
})
