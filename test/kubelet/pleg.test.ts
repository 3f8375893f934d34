// How the kubelet notices: a relist each second, or container events with a relist each minute, and the health
// check and metrics that tell when neither works.
import { afterEach, expect, test } from 'vitest'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { image, VirtualNode } from './virtual-node.js'

const nodes: VirtualNode[] = []
const start = async (options?: Parameters<typeof VirtualNode.start>[0]): Promise<VirtualNode> => {
  const node = await VirtualNode.start(options)
  nodes.push(node)
  return node
}
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const exited = 2

async function withPod(node: VirtualNode): Promise<void> {
  await node.pod('web', { containers: [{ name: 'app', image }] })
  await node.until('the pod runs', () => node.podNamed('web')?.status.phase === 'Running')
  await node.calm()
}

/** As the kubelet counts them itself: others list sandboxes as well. */
async function relists(node: VirtualNode): Promise<number> {
  const text = (await node.fixture.served.at(-1)?.metrics.text())?.body ?? ''
  return Number(/^kubelet_pleg_relist_duration_seconds_count (\d+)$/m.exec(text)?.[1])
}

const crash = (node: VirtualNode): void => {
  for (const { status } of node.state.containers.values())
    if (status.state !== exited) node.state.exitContainer(status.id, { exitCode: 3 })
}
const restarts = (node: VirtualNode) => node.podNamed('web')?.status.containerStatuses[0]?.restartCount

test('a runtime without events is listed each second, and an end is noticed by that', async () => {
  const node = await start()
  await withPod(node)
  const before = await relists(node)
  await node.pass(60)
  expect((await relists(node)) - before).toBeGreaterThanOrEqual(58)
  expect((await relists(node)) - before).toBeLessThanOrEqual(61)
  crash(node)
  await node.calm()
  expect(restarts(node)).toBe(0)
  await node.pass(2)
  expect(restarts(node)).toBe(1)
})

test('a runtime with events is listed once a minute, and an end is noticed at once', async () => {
  const node = await start({ events: true })
  await withPod(node)
  await node.pass(3)
  const before = await relists(node)
  await node.pass(290)
  expect((await relists(node)) - before).toBeLessThanOrEqual(5)
  expect((await relists(node)) - before).toBeGreaterThanOrEqual(4)
  crash(node)
  await node.until('the restart, while the clock stands', () => restarts(node) === 1)
  await node.pass(70)
  expect(await node.health('pleg')).toBeUndefined()
})

test('a runtime with events that is restarted: what ended meanwhile is noticed within seconds', async () => {
  const node = await start({ events: true })
  await withPod(node)
  await node.pass(20)
  await node.fixture.runtime.stop()
  crash(node)
  await node.fixture.clock.advance(2000)
  await node.fixture.runtime.start()
  for (let i = 0; i < 8 && restarts(node) === 0; i += 1) {
    await node.fixture.clock.advance(1000)
    // The connection comes back in real time.
    for (let k = 0; k < 100 && restarts(node) === 0; k += 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }
  expect(restarts(node)).toBe(1)
})

test('nothing to do is nothing but the lists', async () => {
  const node = await start()
  await withPod(node)
  await node.pass(2)
  node.fixture.runtime.clearCalls()
  await node.pass(50)
  const asked = new Set(node.fixture.runtime.calls.map(({ method }) => method))
  for (const method of [
    'CreateContainer',
    'StartContainer',
    'RunPodSandbox',
    'UpdateContainerResources',
  ] as const)
    expect(asked.has(method), method).toBe(false)
})

test('a pod at rest is asked for by itself once in ten minutes: the lists have told that it is as it was', async () => {
  const node = await start()
  await withPod(node)
  await node.pass(70)
  node.fixture.runtime.clearCalls()
  await node.pass(8 * 60)
  const statuses = () =>
    node.fixture.runtime.calls.filter(({ method }) => method === 'ContainerStatus').length
  expect(statuses()).toBe(0)
  await node.pass(3 * 60)
  expect(statuses()).toBe(1)
  crash(node)
  await node.pass(2)
  expect(restarts(node)).toBe(1)
})

test('lists that fail for three minutes make /healthz/pleg say so; the first good one mends it', async () => {
  let away = false
  const node = await start({
    scripts: (state): Scripts => ({
      ListPodSandbox: () =>
        away
          ? { code: 'UNAVAILABLE', message: 'away' }
          : { value: { items: [...state.sandboxes.values()].map(({ status }) => status) } },
    }),
  })
  await withPod(node)
  await node.pass(5)
  expect(await node.health('pleg')).toBeUndefined()
  away = true
  await node.pass(170)
  expect(await node.health('pleg')).toBeUndefined()
  await node.pass(15)
  expect(await node.health('pleg')).toMatch(/^pleg was last seen active 18\d s ago$/)
  // The pod was not touched meanwhile.
  expect(node.state.containers.size).toBe(1)
  away = false
  await node.pass(3)
  expect(await node.health('pleg')).toBeUndefined()
  expect(node.fixture.log.lines.filter(({ message }) => message === 'listing pods works again')).toHaveLength(
    1,
  )
})

test('the metrics count each relist and tell when the last one was', async () => {
  const node = await start()
  await withPod(node)
  await node.pass(20)
  const served = node.fixture.served.at(-1)
  const text = (await served?.metrics.text())?.body ?? ''
  expect(
    Number(/^kubelet_pleg_relist_duration_seconds_count (\d+)$/m.exec(text)?.[1]),
  ).toBeGreaterThanOrEqual(18)
  const lastSeen = Number(/^kubelet_pleg_last_seen_seconds (\S+)$/m.exec(text)?.[1])
  expect(Math.abs(lastSeen - Number(node.fixture.clock.nowNanos() / 1_000_000_000n))).toBeLessThanOrEqual(1)
  expect(text).toMatch(/^kubelet_running_pods 1$/m)
  expect(text).toMatch(/^kubelet_running_containers\{container_state="running"\} 1$/m)
  expect(text).toMatch(/^kubelet_desired_pods\{static="true"\} 1$/m)
})
