// The wire format by hand against the library's reader and writer.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { describe, expect, test } from 'vitest'
import { encodeVarint, tagOf, topLevelFields, WireReader, wireType } from './protobuf-wire.js'

const numbers = [0n, 1n, 127n, 128n, 2n ** 32n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 63n - 1n]

test('numbers are those of the library, signed and unsigned', () => {
  for (const n of numbers) {
    expect(encodeVarint(n)).toEqual(new BinaryWriter().uint64(n).finish())
    expect(encodeVarint(-n)).toEqual(new BinaryWriter().int64(-n).finish())
    expect(new WireReader(encodeVarint(n)).uint64()).toBe(n)
    expect(new WireReader(encodeVarint(-n)).int64()).toBe(-n)
  }
  expect(new WireReader(new BinaryWriter().int32(-3).finish()).int32()).toBe(-3)
})

test('tags are those of the library', () => {
  expect(tagOf(16, wireType.lengthDelimited)).toBe(
    new WireReader(new BinaryWriter().tag(16, WireType.LengthDelimited).finish()).varint(),
  )
})

const message = new BinaryWriter()
  .tag(1, WireType.LengthDelimited)
  .string('first')
  .tag(2, WireType.Varint)
  .int64(-1n)
  .tag(3, WireType.Bit64)
  .fixed64(7n)
  .tag(4, WireType.Bit32)
  .fixed32(7)
  .tag(20, WireType.LengthDelimited)
  .bytes(new Uint8Array(300))
  .finish()

test('the fields of a message are slices of it that make it whole again', () => {
  const fields = [...topLevelFields(message)]
  expect(fields.map((f) => f.field)).toEqual([1, 2, 3, 4, 20])
  expect(Buffer.concat(fields.map((f) => f.bytes))).toEqual(Buffer.from(message))
})

describe('bytes that are no message are refused', () => {
  for (const [name, bytes] of [
    ['a field longer than its message', [0x0a, 5, 1]],
    ['a field number of 0', [0, 0]],
    ['a group', [0x0b, 0x0c]],
    ['a number that does not end', [0x08, ...Array<number>(11).fill(0xff)]],
    ['a fixed number that is cut off', [0x09, 1, 2]],
  ] as const)
    test(name, () => {
      expect(() => [...topLevelFields(Uint8Array.from(bytes))]).toThrow(/unreadable field at byte \d+ of \d+/)
    })

  test('every cut of a message that is not at the end of a field', () => {
    const ends = new Set([0])
    for (const { bytes } of topLevelFields(message)) ends.add(Math.max(...ends) + bytes.length)
    for (let length = 0; length < message.length; length++) {
      const read = () => [...topLevelFields(message.subarray(0, length))]
      if (ends.has(length)) expect(read).not.toThrow()
      else expect(read).toThrow(/unreadable/)
    }
  })
})
