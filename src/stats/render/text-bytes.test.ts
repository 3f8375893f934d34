import { expect, test } from 'vitest'
import { createTextBytes, decodePieces, type TextPieces } from './text-bytes.js'

const eachDecoded = (pieces: TextPieces): string =>
  pieces.map((piece) => new TextDecoder('utf-8', { fatal: true }).decode(piece)).join('')

test('two texts that are written in turns, of several blocks, with letters of one to four bytes', () => {
  const lines = Array.from({ length: 9_000 }, (_, i) => `${i} aé€😀`.repeat((i % 3) + 1))
  const first = createTextBytes()
  const second = createTextBytes()
  for (const line of lines) {
    first.add(line)
    second.add(line.toUpperCase())
  }
  expect(eachDecoded(first.take())).toBe(lines.join(''))
  expect(decodePieces(second.take())).toBe(lines.join('').toUpperCase())
})

test('a single text that is longer than a block', () => {
  const text = createTextBytes()
  text.add('€'.repeat(400_000))
  const pieces = text.take()
  expect(eachDecoded(pieces)).toBe('€'.repeat(400_000))
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(16_384)
})

test('what was taken stays as it is while the next text is written', () => {
  const text = createTextBytes()
  text.add('x'.repeat(100_000))
  const before = text.take()
  text.add('yy')
  expect(decodePieces(text.take())).toBe('yy')
  expect(decodePieces(before)).toBe('x'.repeat(100_000))
  expect(text.take()).toHaveLength(0)
})

test.each([
  [1, 50_000, 1.3],
  [80, 1_000, 1.3],
  [80, 220, 1.6],
  [80, 6, 3],
])(
  '%i texts of %i lines that are written in turns take little more memory than they have bytes',
  (n, lines, share) => {
    const texts = Array.from({ length: n }, createTextBytes)
    for (let i = 0; i < lines; i++)
      for (const text of texts) text.add(`container_memory_rss{id="/kubepods/burstable/pod${i}"} ${i}\n`)
    const pieces = texts.flatMap((text) => text.take())
    const buffers = new Set(pieces.map((piece) => piece.buffer))
    const held = [...buffers].reduce((bytes, buffer) => bytes + buffer.byteLength, 0) - 2 * 262_144
    expect(held).toBeLessThan(share * pieces.reduce((bytes, piece) => bytes + piece.length, 0))
  },
)
