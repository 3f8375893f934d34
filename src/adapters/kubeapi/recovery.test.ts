import { expect, test } from 'vitest'
import { FakeClock } from '../../fakes/clock.js'
import { createRecovery } from './recovery.js'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('those who wait are woken by the first answer after failures, spread over a second', async () => {
  const clock = new FakeClock()
  const recovery = createRecovery(clock, () => 0.5)
  const { signal } = new AbortController()
  let woken = 0
  for (let i = 0; i < 3; i++) void recovery.rest(30_000, signal).then(() => woken++)
  recovery.answered()
  await settle()
  expect(woken, 'nothing had failed').toBe(0)
  recovery.failed()
  recovery.answered()
  await settle()
  expect(woken).toBe(0)
  await clock.advance(500)
  await settle()
  expect(woken).toBe(3)
})

test('an answer does not wake twice, a rest ends by itself, and a signal ends it at once', async () => {
  const clock = new FakeClock()
  const recovery = createRecovery(clock, () => 0)
  const stop = new AbortController()
  let ended = 0
  void recovery.rest(1_000, stop.signal).then(() => ended++)
  await clock.advance(1_000)
  await settle()
  expect(ended).toBe(1)
  void recovery.rest(1_000, stop.signal).then(() => ended++)
  stop.abort()
  await settle()
  expect(ended).toBe(2)
  expect(clock.waiting).toBe(0)
})
