import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import { frame } from '../../../fakes/cri/play.js'
import { CallFailure } from './call-failure.js'
import { createUnframer } from './unframe.js'

test('messages arrive whole and in order, however their bytes are cut', () => {
  assertProperty(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }),
      (messages, sizes) => {
        const bytes = Buffer.concat(messages.map(frame))
        const unframer = createUnframer(100)
        const got: Buffer[] = []
        let at = 0
        for (let i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] ?? 1
          unframer.take(bytes.subarray(at, at + size), (message) => got.push(message))
          at += size
        }
        expect(got.map((m) => [...m])).toEqual(messages.map((m) => [...m]))
        expect(unframer.isBetween).toBe(true)
      },
    ),
  )
})

test('an answer that is cut off is not between two messages', () => {
  const unframer = createUnframer(100)
  unframer.take(frame(Buffer.alloc(50)).subarray(0, 20), () => expect.unreachable())
  expect(unframer.isBetween).toBe(false)
})

for (const { name, bytes, kind } of [
  { name: 'one byte above the limit', bytes: Buffer.from([0, 0, 0, 0, 101]), kind: 'too-large' },
  { name: 'text', bytes: Buffer.from('<html>'), kind: 'malformed' },
  {
    name: 'a compressed message, which was not offered',
    bytes: Buffer.from([1, 0, 0, 0, 1, 0]),
    kind: 'malformed',
  },
])
  test(`${name}: ${kind}, as soon as the length is known`, () => {
    const take = () => createUnframer(100).take(bytes, () => {})
    expect(take).toThrow(CallFailure)
    expect(take).toThrow(expect.objectContaining({ kind }))
  })
