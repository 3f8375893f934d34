import { expect, test } from 'vitest'
import { frameMessage, framePieces, unframeOne } from './grpc-frames.js'

test.each([0, 1, 65_536, 65_537, 3_000_000])('a message of %i bytes is the same in pieces', (size) => {
  const message = Buffer.alloc(size, 'm')
  const pieces = framePieces(message)
  expect(Buffer.concat(pieces).equals(frameMessage(message))).toBe(true)
  expect(unframeOne(Buffer.concat(pieces), undefined, size)?.equals(message)).toBe(true)
})

test('a large message is not copied', () => {
  const message = Buffer.alloc(3_000_000)
  expect(framePieces(message).at(-1)).toBe(message)
})
