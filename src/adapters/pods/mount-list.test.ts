import { expect, test } from 'vitest'
import { createMountList } from './mount-list.js'

const list = () => {
  const reads: { done: (text: string) => void; fail: (e: Error) => void }[] = []
  const ask = createMountList(() => new Promise((done, fail) => reads.push({ done, fail })))
  return { reads, ask, settle: () => new Promise(setImmediate) }
}

test('who asks while the list is read shares one read that begins afterwards', async () => {
  const { reads, ask, settle } = list()
  const first = ask()
  await settle()
  const late = [ask(), ask(), ask()]
  await settle()
  expect(reads).toHaveLength(1)
  reads[0]?.done('before')
  expect(await first).toBe('before')
  await settle()
  expect(reads).toHaveLength(2)
  reads[1]?.done('after')
  expect(await Promise.all(late)).toEqual(['after', 'after', 'after'])
})

test('a read that fails fails for those who share it, and the next one is tried', async () => {
  const { reads, ask, settle } = list()
  const first = ask()
  await settle()
  const second = ask()
  reads[0]?.fail(new Error('no memory'))
  await expect(first).rejects.toThrow('no memory')
  await settle()
  reads[1]?.done('text')
  expect(await second).toBe('text')
})
