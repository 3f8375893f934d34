// The parts between readers and browsers: one reading for all, only what changed, everything for whoever fell behind, and
// values that take time to find out.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { LiveChange, LivePod, LiveSnapshot } from '../../src/core/dashboard/model.js'
import type { PodJson } from '../../src/core/pod/document.js'
import { createStore } from '../../src/dashboard/store.js'
import { FakeClock } from '../../src/fakes/clock.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createBackgroundValue } from '../../src/serve/dashboard/background-value.js'
import { createLiveHub } from '../../src/serve/dashboard/hub.js'
import { createSpecRequests } from '../../src/serve/dashboard/spec-requests.js'
import { pod, snapshot } from '../top/snapshots.js'

function fixture(first: readonly LivePod[]) {
  const clock = new FakeClock()
  let pods = first
  let readings = 0
  const reader = {
    periodMs: 1_000,
    logPath: () => undefined,
    async take(): Promise<LiveSnapshot> {
      readings++
      return snapshot(pods, { time: new Date(readings * 1000).toISOString() })
    },
  }
  const hub = createLiveHub(reader, clock, new FakeLog())
  return {
    clock,
    hub,
    readings: () => readings,
    setPods(next: readonly LivePod[]) {
      pods = next
    },
  }
}

const watcher = (hub: ReturnType<typeof createLiveHub>) => {
  const gone = new AbortController()
  const stream = hub.watch(gone.signal)
  return {
    next: async (): Promise<LiveChange> => JSON.parse((await stream.next()).value as string) as LiveChange,
    async close() {
      gone.abort()
      await stream.return(undefined)
    },
  }
}

const [a, b] = [pod('demo', 'a'), pod('demo', 'b')]

describe('the hub', () => {
  test('reads for nobody, once for two, and stops when they have gone', async () => {
    const { hub, clock, readings } = fixture([a])
    await clock.advance(5_000)
    expect(readings()).toBe(0)
    const [one, two] = [watcher(hub), watcher(hub)]
    const firsts = await Promise.all([one.next(), two.next()])
    expect(firsts.map((f) => f.whole)).toEqual([true, true])
    expect(readings()).toBe(1)
    await one.close()
    await two.close()
    const then = readings()
    await clock.advance(10_000)
    expect(readings()).toBe(then)
    expect(hub.watchers).toBe(0)
  })

  test('sends what changed, and what is gone', async () => {
    const { hub, clock, setPods } = fixture([a, b])
    const one = watcher(hub)
    expect(Object.keys((await one.next()).set)).toContain('pod id-b')
    setPods([{ ...a, uid: 'other' }])
    const change = one.next()
    await clock.advance(1_000)
    const { whole, set, remove } = await change
    expect(whole).toBe(false)
    expect(Object.keys(set).sort()).toEqual(['pod id-a', 'time'])
    expect(remove).toEqual(['pod id-b'])
    await one.close()
  })

  test('whoever missed a change gets everything, and forgets what is gone', async () => {
    const { hub, clock, setPods } = fixture([a, b])
    const slow = watcher(hub)
    const store = createStore()
    store.apply(await slow.next())
    expect(store.picture?.pods.map((p) => p.name)).toEqual(['a', 'b'])
    for (const pods of [[a], [b], [b]]) {
      setPods(pods)
      await clock.advance(1_000)
    }
    const change = await slow.next()
    expect(change.whole).toBe(true)
    store.apply(change)
    expect(store.picture?.pods.map((p) => p.name)).toEqual(['b'])
    await slow.close()
  })

  test('the browser keeps the objects that did not change', async () => {
    const store = createStore()
    const set = Object.fromEntries(
      Object.entries(snapshot([])).filter(([key]) => key !== 'pods' && key !== 'cgroups'),
    )
    store.apply({ whole: true, set: { ...set, cgroups: { data: [] }, 'pod 1': a, 'pod 2': b }, remove: [] })
    const before = store.picture?.pods[0]
    store.apply({
      whole: false,
      set: { time: '2030-01-01T00:00:00.000Z', 'pod 2': { ...b, uid: 'x' } },
      remove: [],
    })
    expect(store.picture?.pods[0]).toBe(before)
    expect(store.picture?.pods[1]?.uid).toBe('x')
    expect(store.history.node.times).toHaveLength(2)
  })
})

test('a value that takes time: what is known meanwhile, asked again only when it is old, kept when asking fails', async () => {
  const clock = new FakeClock()
  const { signal } = new AbortController()
  let asked = 0
  const kept = createBackgroundValue({
    clock,
    signal,
    everyMs: 1_000,
    meanwhile: 'wait',
    async find() {
      asked++
      if (asked === 2) throw new Error('away')
      return asked
    },
  })
  expect(kept()).toEqual({ absent: 'wait' })
  await sleep(1)
  expect(kept()).toEqual({ data: 1 })
  expect(asked).toBe(1)
  await clock.advance(1_500)
  kept()
  await sleep(1)
  expect(kept()).toEqual({ data: 1 })
  expect(asked).toBe(2)
  await clock.advance(1_500)
  kept()
  await sleep(1)
  expect(kept()).toEqual({ data: 3 })
})

test('requests come from the pod; a limit alone is the request as well', () => {
  const container = (name: string, resources: object) => ({ name, resources })
  const document = {
    metadata: { namespace: 'demo', name: 'web' },
    spec: {
      initContainers: [container('init', { requests: { cpu: '1' } })],
      containers: [
        container('app', { requests: { memory: '1.5Gi', cpu: '250m' }, limits: { memory: '2Gi' } }),
        container('limited', { limits: { memory: '64Mi', cpu: 2 } }),
        container('none', {}),
      ],
    },
  } as unknown as PodJson
  const requests = createSpecRequests(new FakeClock(), () => [document])
  const of = (name: string) => requests.container({ namespace: 'demo', name: 'web', uid: '' }, name)
  expect(of('app')).toEqual({ cpuMilli: 250, memory: '1610612736', from: 'spec' })
  expect(of('limited')).toEqual({ cpuMilli: 2000, memory: '67108864', from: 'spec' })
  expect(of('init')).toEqual({ cpuMilli: 1000, memory: null, from: null })
  expect(of('none')).toEqual({ cpuMilli: null, memory: null, from: null })
  expect(of('other')).toBeUndefined()
})
