import { expect, test } from 'vitest'
import { inTurns } from './turns.js'

test('what else waits for the event loop comes in between the parts of a long work', async () => {
  const seen: (number | string)[] = []
  setImmediate(() => seen.push('request'))
  await inTurns([1, 2, 3, 4, 5], 2, (part) => seen.push(part))
  expect(seen).toEqual([1, 2, 'request', 3, 4, 5])
})
