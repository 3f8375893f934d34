import { expect, test } from 'vitest'
import { createTextBytes, joinTexts } from './text-bytes.js'

const decoded = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

test('texts of several blocks, with letters of one to four bytes, one after the other', () => {
  const lines = Array.from({ length: 9_000 }, (_, i) => `${i} aé€😀`.repeat((i % 3) + 1))
  const first = createTextBytes()
  const second = createTextBytes()
  for (const line of lines) {
    first.add(line)
    second.add(line.toUpperCase())
  }
  expect(decoded(joinTexts([first, second]))).toBe(lines.join('') + lines.join('').toUpperCase())
})

test('a single text that is longer than a block', () => {
  const text = createTextBytes()
  text.add('€'.repeat(40_000))
  expect(decoded(joinTexts([text]))).toBe('€'.repeat(40_000))
})

test('blocks that are used again leave nothing of the text before', () => {
  const long = createTextBytes()
  long.add('x'.repeat(100_000))
  const before = joinTexts([long])
  const short = createTextBytes()
  short.add('yy')
  expect(decoded(joinTexts([short]))).toBe('yy')
  expect(decoded(before)).toBe('x'.repeat(100_000))
  expect(joinTexts([short, createTextBytes()])).toHaveLength(0)
})
