import { expect, test } from 'vitest'
import { createTurns, inTurns } from './turns.js'

test('callers that come at once get turns one after the other, and what else waits comes in between', async () => {
  const nextTurn = createTurns()
  const seen: string[] = []
  const work = ['a', 'b', 'c'].map(async (name) => {
    await nextTurn()
    seen.push(name)
    setImmediate(() => seen.push(`after ${name}`))
  })
  await Promise.all(work)
  await nextTurn()
  expect(seen.filter((s) => s.length === 1)).toEqual(['a', 'b', 'c'])
  expect(seen.indexOf('after a')).toBeLessThan(seen.indexOf('c'))
})

test('a caller that comes later does not wait for turns of the past', async () => {
  const nextTurn = createTurns()
  await nextTurn()
  let isDone = false
  void nextTurn().then(() => {
    isDone = true
  })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  expect(isDone).toBe(true)
})

test('what else waits for the event loop comes in between the parts of a long work', async () => {
  const seen: (number | string)[] = []
  setImmediate(() => seen.push('request'))
  await inTurns([1, 2, 3, 4, 5], 2, (part) => seen.push(part))
  expect(seen).toEqual([1, 2, 'request', 3, 4, 5])
})
