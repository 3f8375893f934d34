import { expect, test } from 'vitest'
import { FakeClock } from '../../fakes/clock.js'
import { keelsonError } from '../errors.js'
import { doubling, pause, retry } from './retry.js'

const away = () => keelsonError('runtime.unavailable', 'no connection')

function trying(answer: (nth: number) => string, waitMs: (failures: number) => number | undefined) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const retried: number[] = []
  let calls = 0
  const result = retry(async () => answer(++calls), {
    clock,
    signal: stop.signal,
    waitMs,
    onRetry: (_, ms) => retried.push(ms),
  }).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  return { clock, stop, retried, result, calls: () => calls }
}

test('retry: waits longer after each failure, up to the longest, and gives the first answer', async () => {
  const t = trying(
    (nth) => {
      if (nth < 5) throw away()
      return 'there'
    },
    doubling(100, 500),
  )
  await t.clock.advance(0)
  await t.clock.advance(99)
  expect(t.calls()).toBe(1)
  await t.clock.advance(1 + 200 + 400 + 500)
  expect(await t.result).toEqual({ value: 'there' })
  expect(t.retried).toEqual([100, 200, 400, 500])
})

test('retry: a final error is thrown, and not reported as tried again', async () => {
  const t = trying(
    () => {
      throw away()
    },
    (failures) => (failures < 3 ? 10 : undefined),
  )
  await t.clock.advance(0)
  await t.clock.advance(100)
  expect(await t.result).toMatchObject({ error: { code: 'runtime.unavailable' } })
  expect([t.calls(), t.retried.length]).toEqual([3, 2])
})

test('retry: a bug is thrown as it is, at once', async () => {
  const bug = new TypeError('x is undefined')
  const t = trying(
    () => {
      throw bug
    },
    () => 1,
  )
  expect(await t.result).toEqual({ error: bug })
  expect(t.calls()).toBe(1)
})

test('retry: a signal ends the wait with its reason, and nothing is tried after it', async () => {
  const t = trying(
    () => {
      throw away()
    },
    () => 1000,
  )
  await t.clock.advance(10)
  t.stop.abort(new Error('end'))
  expect(await t.result).toMatchObject({ error: { message: 'end' } })
  await t.clock.advance(5000)
  expect([t.calls(), t.clock.waiting]).toEqual([1, 0])
})

test('pause: a signal ends it without an error', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const waiting = pause(clock, 1000, stop.signal)
  stop.abort()
  await expect(waiting).resolves.toBeUndefined()
  expect(clock.waiting).toBe(0)
})
