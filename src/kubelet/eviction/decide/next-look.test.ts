import { expect, test } from 'vitest'
import { longestMs, nextLookMs, shortestMs } from './next-look.js'
import type { Threshold } from './thresholds.js'

const GiB = 1024n ** 3n
const threshold = (signal: Threshold['signal'], value: string): Threshold => ({
  signal,
  value,
  graceMs: 0,
  minReclaim: undefined,
})
const ofNode = threshold('memory.available', '1Gi')
const ofPods = threshold('allocatableMemory.available', '1Gi')
const seen = (available: bigint) => ({ available, capacity: 64n * GiB, timeNanos: 0n })

test('with plenty of memory the next look can wait, but not for long', () => {
  expect(nextLookMs([ofNode], new Map([['memory.available', seen(60n * GiB)]]))).toBe(longestMs)
})

test('near a threshold, and beyond it, the next look comes soon', () => {
  for (const available of [GiB + 1n, GiB, 0n])
    expect(nextLookMs([ofNode], new Map([['memory.available', seen(available)]]))).toBe(shortestMs)
})

test('between them it comes before what is left can be used up', () => {
  const twoLeft = nextLookMs([ofNode], new Map([['memory.available', seen(3n * GiB)]]))
  expect(twoLeft).toBeGreaterThan(990)
  expect(twoLeft).toBeLessThan(1_010)
})

test('the threshold with the least left decides', () => {
  const both = new Map([
    ['memory.available', seen(60n * GiB)],
    ['allocatableMemory.available', seen(GiB)],
  ] as const)
  expect(nextLookMs([ofNode, ofPods], both)).toBe(shortestMs)
})

test('what cannot be read is no reason to hurry', () => {
  expect(nextLookMs([ofNode], new Map())).toBe(longestMs)
  expect(nextLookMs([], new Map())).toBe(longestMs)
})
