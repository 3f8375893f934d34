// Bodies that are made once for each sample.
import { expect, test } from 'vitest'
import { memoizeBody } from './memoize-latest.js'

test('an answer is made once for each sample', () => {
  let made = 0
  const answer = memoizeBody((a: object, b: number) =>
    new TextEncoder().encode(`${++made} ${JSON.stringify(a)} ${b}`),
  )
  const sample = {}
  expect(answer(sample, 1)).toBe(answer(sample, 1))
  answer({}, 1)
  answer(sample, 2)
  expect(made).toBe(3)
})
