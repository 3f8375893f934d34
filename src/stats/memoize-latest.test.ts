// Bodies that are made once for each sample.
import { expect, test } from 'vitest'
import { memoizeBody } from './memoize-latest.js'

const pieces = (text: string): readonly Uint8Array[] => [new TextEncoder().encode(text)]

test('an answer is made once for each sample', async () => {
  let made = 0
  const answer = memoizeBody(async (a: object, b: number) => pieces(`${++made} ${JSON.stringify(a)} ${b}`))
  const sample = {}
  const [first, second] = await Promise.all([answer(sample, 1), answer(sample, 1)])
  expect(first).toBe(second)
  await answer({}, 1)
  await answer(sample, 2)
  expect(made).toBe(3)
})

test('an answer that could not be made is tried again', async () => {
  let tries = 0
  const answer = memoizeBody(async (_: object) => {
    if (++tries === 1) throw new Error('the disk is gone')
    return pieces('whole')
  })
  const sample = {}
  await expect(answer(sample)).rejects.toThrow('the disk is gone')
  expect(await answer(sample)).toEqual(pieces('whole'))
})
