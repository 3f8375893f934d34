import { expect, test } from 'vitest'
import { encodeFrame, MessageReader } from './websocket-frames.js'

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)
/** As a server sends it: not masked. */
const frame = (first: number, payload: Uint8Array): Uint8Array => {
  const { length } = payload
  const head =
    length < 126
      ? [first, length]
      : length < 65_536
        ? [first, 126, length >> 8, length & 255]
        : [first, 127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]
  return Uint8Array.from([...head, ...payload])
}

for (const length of [0, 5, 125, 126, 65_535, 65_536])
  test(`${length} bytes go out masked, with the length that RFC 6455 wants`, () => {
    const payload = new Uint8Array(length).fill(7)
    const mask = bytes(1, 2, 3, 4)
    const sent = encodeFrame('binary', payload, mask)
    const at = sent.length - length
    expect(sent[0]).toBe(0x82)
    expect((sent[1] ?? 0) & 0x80).toBe(0x80)
    expect([...sent.subarray(at - 4, at)]).toEqual([...mask])
    // Without the mask it is what a server would send.
    const plain = sent.subarray(at).map((byte, i) => byte ^ (mask[i % 4] ?? 0))
    expect(new MessageReader().push(frame(0x82, plain))).toEqual([{ opcode: 'binary', payload }])
  })

test('messages come whole, byte by byte or many at once, with a ping between two pieces', () => {
  const stream = [
    ...frame(0x02, bytes(1, 104)),
    ...frame(0x89, bytes(9)),
    ...frame(0x80, bytes(105)),
    ...frame(0x82, bytes(3)),
  ]
  const whole = [
    { opcode: 'ping', payload: bytes(9) },
    { opcode: 'binary', payload: bytes(1, 104, 105) },
    { opcode: 'binary', payload: bytes(3) },
  ]
  expect(new MessageReader().push(Uint8Array.from(stream))).toEqual(whole)
  const reader = new MessageReader()
  expect(stream.flatMap((byte) => reader.push(bytes(byte)))).toEqual(whole)
})

for (const [name, input] of [
  ['a masked frame', bytes(0x82, 0x80, 0, 0, 0, 0)],
  ['an unknown opcode', bytes(0x83, 0)],
  ['a reserved bit', bytes(0xc2, 0)],
  ['a continuation of nothing', bytes(0x80, 0)],
  ['a message inside another', bytes(0x02, 0, 0x82, 0)],
  ['a length beyond all bounds', bytes(0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0)],
] as const)
  test(`${name} is an error`, () => {
    expect(() => new MessageReader().push(input)).toThrow()
  })
