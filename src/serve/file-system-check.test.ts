// The check that touches the file system, on a clock that stands until it is moved.
import { expect, test } from 'vitest'
import { FakeClock } from '../fakes/clock.js'
import { createFileSystemCheck } from './file-system-check.js'

const { signal } = new AbortController()

function scene() {
  const clock = new FakeClock()
  const answers: { resolve: () => void; reject: (e: Error) => void }[] = []
  const touch = () => new Promise<void>((resolve, reject) => answers.push({ resolve, reject }))
  return { clock, answers, check: createFileSystemCheck({ touch, clock }) }
}

test('a call that does not return fails the check after 5 s, and the next one at once, without a second call', async () => {
  const { clock, answers, check } = scene()
  const first = check.check(signal)
  await clock.advance(5_000)
  expect(await first).toMatch(/has not returned for 5 s/)
  await clock.advance(55_000)
  expect(await check.check(signal)).toMatch(/has not returned for 60 s/)
  expect(answers).toHaveLength(1)
  expect(clock.waiting).toBe(0)
})

test('healthy again as soon as the call has returned', async () => {
  const { clock, answers, check } = scene()
  const stuck = check.check(signal)
  await clock.advance(5_000)
  expect(await stuck).toBeDefined()
  answers[0]?.resolve()
  await clock.advance(2_000)
  const next = check.check(signal)
  answers[1]?.reject(new Error('ENOENT'))
  expect(await next).toBeUndefined()
  expect(clock.waiting).toBe(0)
})

test('many checks in one second cost one call', async () => {
  const { clock, answers, check } = scene()
  const many = Array.from({ length: 50 }, () => check.check(signal))
  answers[0]?.resolve()
  expect((await Promise.all(many)).every((problem) => problem === undefined)).toBe(true)
  await clock.advance(900)
  expect(await check.check(signal)).toBeUndefined()
  expect(answers).toHaveLength(1)
})
