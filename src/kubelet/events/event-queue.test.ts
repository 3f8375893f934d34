import { expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import type { NodeEvent } from '../../ports/kube-calls.js'
import type { BucketRate } from './decide/token-bucket.js'
import { createEventQueue } from './event-queue.js'
import { createPodEvents } from './pod-events.js'

function queueWith(
  answer: (event: NodeEvent, nth: number) => Promise<void> | void,
  { isGone = false, rate }: { readonly isGone?: boolean; readonly rate?: BucketRate } = {},
) {
  const clock = new FakeClock()
  const log = new FakeLog()
  const stop = new AbortController()
  const sent: NodeEvent[] = []
  const patched: NodeEvent[] = []
  let nth = 0
  const api = {
    createEvent: async (event: NodeEvent) => {
      await answer(event, nth++)
      sent.push(event)
    },
    patchEvent: async (event: NodeEvent) => {
      await answer(event, nth++)
      if (!isGone) patched.push(event)
      return !isGone
    },
  }
  const queue = createEventQueue({ api, clock, log, nodeName: 'n1', rate, signal: stop.signal })
  const record = (reason: string): void => queue.record({ type: 'Warning', reason, message: 'm' })
  return { clock, log, stop, sent, patched, queue, record, asked: () => nth }
}

const web = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1' }
const pulled = { type: 'Normal', reason: 'Pulled', message: 'Pulled image' } as const

const unreachable = () => keelsonError('kubeapi.failed', 'not reached', { retryable: false })

test('events wait for the API server with growing pauses, and keep their order', async () => {
  const q = queueWith((_, nth) => {
    if (nth < 3) throw unreachable()
  })
  q.record('A')
  q.record('B')
  await q.clock.advance(0)
  await q.clock.advance(999)
  expect(q.asked()).toBe(1)
  await q.clock.advance(1)
  expect(q.asked()).toBe(2)
  await q.clock.advance(2000 + 4000)
  await q.queue.idle()
  expect(q.sent.map((e) => e.reason)).toEqual(['A', 'B'])
  expect(new Set(q.sent.map((e) => e.name)).size).toBe(2)
  expect(q.sent[0]).toMatchObject({
    namespace: 'default',
    involved: { kind: 'Node', name: 'n1' },
    host: 'n1',
  })
})

test('a refusal drops that event, too many requests does not', async () => {
  const q = queueWith((event, nth) => {
    if (event.reason === 'A') throw keelsonError('kubeapi.failed', '403', { status: 403 })
    if (nth === 1) throw keelsonError('kubeapi.failed', '429', { status: 429 })
  })
  q.record('A')
  q.record('B')
  await q.clock.advance(0)
  await q.clock.advance(1000)
  await q.queue.idle()
  expect(q.sent.map((e) => e.reason)).toEqual(['B'])
  expect(q.log.messages('warn').join()).toContain('refused')
})

test('the queue is bounded: the oldest that is not under way goes', async () => {
  const q = queueWith(() => {
    throw unreachable()
  })
  for (let i = 0; i < 1100; i++) q.queue.record({ ...pulled, involved: { ...web, name: `web${i}` } })
  expect(q.queue.waiting).toBe(1000)
  q.stop.abort(new Error('end'))
  await q.queue.idle()
  expect(q.sent).toEqual([])
})

test('the same event again raises the count of the one that is there', async () => {
  const q = queueWith(() => undefined)
  q.record('A')
  await q.queue.idle()
  q.record('A')
  await q.queue.idle()
  expect(q.sent.map(({ count }) => count)).toEqual([1])
  expect(q.patched).toMatchObject([{ name: q.sent[0]?.name, count: 2 }])
})

test('an Event that has expired is created again with its count', async () => {
  const q = queueWith(() => undefined, { isGone: true })
  q.record('A')
  await q.queue.idle()
  q.record('A')
  await q.queue.idle()
  expect(q.sent.map(({ count }) => count)).toEqual([1, 2])
})

test('repetitions that wait are sent as one', async () => {
  const q = queueWith((_, nth) => {
    if (nth === 0) throw unreachable()
  })
  q.record('first')
  for (let i = 0; i < 5; i++) q.record('A')
  expect(q.queue.waiting).toBe(2)
  await q.clock.advance(0)
  await q.clock.advance(1000)
  await q.queue.idle()
  expect(q.sent.map(({ reason, count }) => [reason, count])).toEqual([
    ['first', 1],
    ['A', 5],
  ])
})

test('events beyond the burst wait for the rate', async () => {
  const q = queueWith(() => undefined, { rate: { burst: 2, perSecond: 1 } })
  for (const reason of ['A', 'B', 'C']) q.record(reason)
  await q.clock.advance(0)
  expect(q.sent.map(({ reason }) => reason)).toEqual(['A', 'B'])
  await q.clock.advance(1000)
  await q.queue.idle()
  expect(q.sent.map(({ reason }) => reason)).toEqual(['A', 'B', 'C'])
})

test('an event of a container names its part of the pod; standalone it is a line of the log', async () => {
  const q = queueWith(() => undefined)
  const { kind: _, ...pod } = web
  const podEvents = createPodEvents(q)
  podEvents.pod(pod, { ...pulled, container: { kind: 'sidecar', name: 'proxy' } })
  podEvents.pod(pod, pulled)
  await q.queue.idle()
  expect(q.sent.map(({ involved, namespace }) => [namespace, involved])).toEqual([
    ['shop', { ...web, fieldPath: 'spec.initContainers{proxy}' }],
    ['shop', web],
  ])
  const { clock, log } = q
  createPodEvents({ queue: undefined, clock, log }).pod(pod, pulled)
  expect(q.log.messages('info')).toEqual(['Pulled image'])
  for (let i = 0; i < 30; i++) podEvents.pod(pod, { ...pulled, message: `m${i % 25}` })
  const recent = podEvents.recent(pod.uid)
  expect(recent).toHaveLength(20)
  expect(recent.at(-1)).toMatchObject({ reason: 'Pulled', message: 'm4', count: 1 })
})
