import { expect, test } from 'vitest'
import { createClock } from '../adapters/clock/clock.js'
import { FakeClock } from './clock.js'

test('sleepers wake in order, and may sleep again inside one advance', async () => {
  const clock = new FakeClock(0n)
  const log: string[] = []
  const loop = async () => {
    for (let i = 0; i < 3; i++) {
      await clock.sleep(100)
      log.push(`loop ${clock.monotonicNanos() / 1_000_000n}`)
    }
  }
  const other = clock.sleep(150).then(() => log.push(`other ${clock.nowNanos() / 1_000_000n}`))
  const looping = loop()
  await clock.advance(99)
  expect(log).toEqual([])
  await clock.advance(1000)
  await Promise.all([other, looping])
  expect(log).toEqual(['loop 100', 'other 150', 'loop 200', 'loop 300'])
  expect(clock.monotonicNanos()).toBe(1_099_000_000n)
})

for (const [name, clock] of [
  ['fake', new FakeClock()],
  ['real', createClock()],
] as const) {
  test(`${name}: an aborted sleep rejects with the reason and is forgotten`, async () => {
    const stop = new AbortController()
    const sleeping = clock.sleep(60_000, stop.signal)
    stop.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    await expect(clock.sleep(60_000, stop.signal)).rejects.toThrow('enough')
    if (clock instanceof FakeClock) expect(clock.waiting).toBe(0)
  })
}

test('real: wall clock in nanoseconds, monotonic forward', async () => {
  const clock = createClock()
  const start = clock.monotonicNanos()
  const before = Date.now()
  const now = Number(clock.nowNanos() / 1_000_000n)
  expect(now).toBeGreaterThan(before - 150)
  expect(now).toBeLessThan(Date.now() + 150)
  await clock.sleep(5)
  expect(clock.monotonicNanos() - start).toBeGreaterThan(4_000_000n)
})
