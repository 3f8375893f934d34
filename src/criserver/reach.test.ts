import { expect, test } from 'vitest'
import { FakeClock } from '../fakes/clock.js'
import { FakeLog } from '../fakes/log.js'
import { createReachLog } from './reach.js'

test('a runtime that stays unreachable is said at intervals, not every second', async () => {
  const log = new FakeLog()
  const clock = new FakeClock()
  const reach = createReachLog(log, clock)
  for (let second = 0; second <= 180; second++) {
    reach.report('/run/x.sock', new Error('connect ENOENT'))
    await clock.advance(1_000)
  }
  expect(log.messages('warn')).toHaveLength(4)
  reach.report('/run/x.sock', undefined)
  reach.report('/run/x.sock', undefined)
  expect(log.messages('info')).toEqual(['the container runtime is reachable again'])
  reach.report('/run/x.sock', new Error('connect ECONNREFUSED'))
  expect(log.messages('warn')).toHaveLength(5)
})

test('a runtime that is there is said once, and each socket has its own state', () => {
  const log = new FakeLog()
  const reach = createReachLog(log, new FakeClock())
  reach.report('/run/a.sock', undefined)
  reach.report('/run/a.sock', undefined)
  reach.report('/run/b.sock', new Error('connect ENOENT'))
  expect(log.lines.map((l) => [l.message, l.fields.socket])).toEqual([
    ['the container runtime is reachable', '/run/a.sock'],
    ['the container runtime is unreachable; calls are refused with UNAVAILABLE', '/run/b.sock'],
  ])
})
