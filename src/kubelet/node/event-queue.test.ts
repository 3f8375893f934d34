import { expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import type { NodeEvent } from '../../ports/kube-calls.js'
import { createEventQueue } from './event-queue.js'

function queueWith(answer: (event: NodeEvent, nth: number) => Promise<void> | void) {
  const clock = new FakeClock()
  const log = new FakeLog()
  const stop = new AbortController()
  const sent: NodeEvent[] = []
  let nth = 0
  const api = {
    createEvent: async (event: NodeEvent) => {
      await answer(event, nth++)
      sent.push(event)
    },
  }
  const queue = createEventQueue({ api, clock, log, nodeName: 'n1', signal: stop.signal })
  const record = (reason: string): void => queue.record({ type: 'Warning', reason, message: 'm' })
  return { clock, log, stop, sent, queue, record, asked: () => nth }
}

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
  for (let i = 0; i < 300; i++) q.record(`E${i}`)
  expect(q.queue.waiting).toBe(256)
  q.stop.abort(new Error('end'))
  await q.queue.idle()
  expect(q.sent).toEqual([])
})
