import { expect, test } from 'vitest'
import { createLimiter } from './limiter.js'

const open = (): { readonly wait: Promise<void>; readonly end: () => void } => {
  let end = (): void => undefined
  const wait = new Promise<void>((resolve) => {
    end = resolve
  })
  return { wait, end: () => end() }
}

test('two at once, the others in the order they came', async () => {
  const limiter = createLimiter(2)
  const gates = [open(), open(), open(), open()]
  const begun: number[] = []
  const runs = gates.map(({ wait }, i) =>
    limiter.run(async () => {
      begun.push(i)
      await wait
    }),
  )
  await Promise.resolve()
  expect(begun).toEqual([0, 1])
  gates[1]?.end()
  await runs[1]
  expect(begun).toEqual([0, 1, 2])
  for (const gate of gates) gate.end()
  await Promise.all(runs)
  expect(begun).toEqual([0, 1, 2, 3])
})

test('work that fails gives its place back', async () => {
  const limiter = createLimiter(1)
  await expect(limiter.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await limiter.run(() => Promise.resolve(3))).toBe(3)
})

test('one that gives up waiting never begins, and the next one takes the place', async () => {
  const limiter = createLimiter(1)
  const gate = open()
  const first = limiter.run(() => gate.wait)
  const stop = new AbortController()
  let begun = false
  const second = limiter.run(async () => {
    begun = true
  }, stop.signal)
  const third = limiter.run(() => Promise.resolve('third'))
  stop.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  gate.end()
  await first
  expect(await third).toBe('third')
  expect(begun).toBe(false)
  await expect(limiter.run(() => Promise.resolve(), stop.signal)).rejects.toThrow('enough')
})
