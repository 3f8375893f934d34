// The long waits of pods on a virtual clock: restarts and pulls along the whole curve, and its new beginning.
import { afterEach, describe, expect, test } from 'vitest'
import { newestFirst } from '../../src/kubelet/pods/decide/observed.js'
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

const running = 1

describe('a container that ends at once', () => {
  test('is started after 0, 10, 20, 40, 80, 160, 300 and 300 s, and from the beginning after 10 good minutes', {
    timeout: 240_000,
  }, async () => {
    const node = await start()
    const starts: number[] = []
    let crashes = true
    const end = (): void => {
      for (const { status } of node.state.containers.values())
        if (status.state === running && crashes) {
          starts.push(node.now)
          node.state.exitContainer(status.id, { exitCode: 1 })
        }
    }
    await node.pod('crash', { containers: [{ name: 'app', image }] })
    await node.until('the first start', () => node.state.containers.size > 0)
    await node.calm()
    end()
    await node.pass(950, end)
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0))
    expect(gaps).toHaveLength(8)
    // A relist each second notices the end, so each start is late by at most that and the step of this clock.
    for (const [i, wanted] of [0, 10, 20, 40, 80, 160, 300, 300].entries()) {
      expect(gaps[i], `restart ${i + 1}`).toBeGreaterThanOrEqual(wanted)
      expect(gaps[i], `restart ${i + 1}`).toBeLessThanOrEqual(wanted + 2)
    }
    expect(node.waitingOf('crash')).toMatchObject({
      reason: 'CrashLoopBackOff',
      message: expect.stringMatching(
        /^back-off 5m0s restarting failed container=app pod=crash-node-1_default\(/,
      ),
    })
    crashes = false
    await node.pass(302)
    expect(node.podNamed('crash')?.status.containerStatuses[0]?.restartCount).toBe(9)
    await node.pass(601)
    crashes = true
    starts.length = 0
    end()
    await node.pass(15, end)
    const [first = 0, second = 0, third = 0] = starts
    expect(second - first).toBeLessThanOrEqual(2)
    expect(third - second).toBeGreaterThanOrEqual(10)
    expect(third - second).toBeLessThanOrEqual(12)
  })
})

describe('the clock is set', () => {
  const hour = 3_600_000_000_000n
  const crashing = async (): Promise<{
    node: VirtualNode
    starts: number[]
    end: () => void
  }> => {
    const node = await start()
    let passed = 0
    const starts: number[] = []
    const end = (): void => {
      passed += 1
      for (const { status } of node.state.containers.values())
        if (status.state === running) {
          starts.push(passed)
          node.state.exitContainer(status.id, { exitCode: 1 })
        }
    }
    await node.pod('crash', { containers: [{ name: 'app', image }] })
    await node.until('the first start', () => node.state.containers.size > 0)
    await node.calm()
    end()
    await node.pass(5, end)
    expect(node.waitingOf('crash')?.reason).toBe('CrashLoopBackOff')
    return { node, starts, end }
  }
  for (const [what, step] of [
    ['back an hour', -hour],
    ['forward an hour', hour],
  ] as const)
    test(`${what}: a container in back-off is started after its 10 s, and the next waits are as long as before`, async () => {
      const { node, starts, end } = await crashing()
      node.fixture.clock.setWall(node.fixture.clock.nowNanos() + step)
      await node.pass(90, end)
      const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0))
      expect(gaps).toHaveLength(4)
      for (const [i, wanted] of [0, 10, 20, 40].entries()) {
        expect(gaps[i], `restart ${i + 1}`).toBeGreaterThanOrEqual(wanted)
        expect(gaps[i], `restart ${i + 1}`).toBeLessThanOrEqual(wanted + 3)
      }
    })

  test('back an hour while a pod ends: its sidecar gets the rest of the grace period and no more', async () => {
    const given: bigint[] = []
    const held: { node?: VirtualNode } = {}
    const node = await start({
      scripts: (state) => ({
        StopContainer: ({ containerId, timeout }) => {
          given.push(timeout)
          const clock = held.node?.fixture.clock
          clock?.setWall(clock.nowNanos() - hour)
          state.exitContainer(containerId, { exitCode: 143 })
          return { value: {} }
        },
      }),
    })
    held.node = node
    await node.pod('web', {
      terminationGracePeriodSeconds: 7,
      initContainers: [{ name: 'side', image, restartPolicy: 'Always' }],
      containers: [{ name: 'app', image }],
    })
    await node.until('it runs', () => node.podNamed('web')?.status.phase === 'Running')
    await node.removeManifest('web')
    await node.until('it has gone', () => node.state.sandboxes.size === 0)
    expect(given).toEqual([7n, 7n])
  })

  test('back an hour: the newest instance of a container is the one with the last attempt', () => {
    const seen = [
      { attempt: 1, createdAtNanos: 5_000n },
      { attempt: 2, createdAtNanos: 1_000n },
    ]
    expect(seen.toSorted(newestFirst).map((c) => c.attempt)).toEqual([2, 1])
  })
})

describe('an image that cannot be pulled', () => {
  const missing = 'example.com/none:1'

  test('is tried after 10, 20, 40, 80, 160, 300 and 300 s; the pod says ErrImagePull and then ImagePullBackOff', {
    timeout: 240_000,
  }, async () => {
    const node = await start({
      scripts: () => ({ PullImage: { code: 'NOT_FOUND', message: 'manifest unknown' } }),
    })
    const pulls = (): number => node.fixture.runtime.callsOf('PullImage').length
    const tried: number[] = []
    const reasons = new Set<string>()
    const note = (): void => {
      while (tried.length < pulls()) tried.push(node.now)
      const waiting = node.waitingOf('nopull')
      if (waiting !== undefined) reasons.add(waiting.reason)
    }
    await node.pod('nopull', { containers: [{ name: 'app', image: missing }] })
    await node.until('the first pull', () => pulls() > 0)
    await node.calm()
    note()
    expect(node.waitingOf('nopull')?.reason).toBe('ErrImagePull')
    expect(node.waitingOf('nopull')?.message).toContain('manifest unknown')
    await node.pass(930, note)
    const gaps = tried.slice(1).map((at, i) => at - (tried[i] ?? 0))
    expect(gaps).toHaveLength(7)
    for (const [i, wanted] of [10, 20, 40, 80, 160, 300, 300].entries()) {
      expect(gaps[i], `pull ${i + 2}`).toBeGreaterThanOrEqual(wanted)
      expect(gaps[i], `pull ${i + 2}`).toBeLessThanOrEqual(wanted + 2)
    }
    expect([...reasons]).toEqual(['ErrImagePull', 'ImagePullBackOff'])
    node.state.addImage(missing)
    await node.pass(302)
    expect(node.podNamed('nopull')?.status.phase).toBe('Running')
  })

  test('and a pull that never ends holds nobody up, and ends with its pod', async () => {
    const node = await start({ scripts: () => ({ PullImage: { hang: true } }) })
    // More than may start at once; pulls come one after the other.
    const stuck = Array.from({ length: 10 }, (_, i) => `stuck${i}`)
    for (const name of stuck)
      await node.pod(name, { containers: [{ name: 'app', image: `x.example/${name}:1` }] })
    await node.until('every sandbox is there', () => node.state.sandboxes.size === stuck.length)
    await node.until('one pull is under way', () => node.fixture.runtime.callsOf('PullImage').length === 1)
    await node.pod('good', { containers: [{ name: 'app', image }] })
    await node.until('the good one runs', () => node.podNamed('good')?.status.phase === 'Running')
    for (const name of stuck) await node.removeManifest(name)
    await node.until('the others have gone', () => node.state.sandboxes.size === 1)
    await node.until('the pull was called off', () => node.fixture.runtime.callsOf('PullImage')[0]?.cancelled)
    expect(node.fixture.runtime.callsOf('PullImage').length).toBeLessThanOrEqual(stuck.length)
    expect(node.podNamed('good')?.status.phase).toBe('Running')
  })
})
