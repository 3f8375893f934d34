// Protobuf on the level of bytes: what can be done with a message without decoding it, and decoding that may fail.
import type { MessageFns } from '../cri-api/api.js'

/** Undefined: these bytes are no such message. The peer may see that differently, so they are passed on. */
export function tryDecode<T>(
  fns: Pick<MessageFns<T>, 'decode'>,
  bytes: Uint8Array | undefined,
): T | undefined {
  if (bytes === undefined) return undefined
  try {
    return fns.decode(bytes)
  } catch {
    return undefined
  }
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

interface Varint {
  readonly value: number
  readonly end: number
}

function readVarint(bytes: Uint8Array, start: number): Varint {
  let value = 0
  for (let i = 0; i < 10; i++) {
    const byte = bytes[start + i]
    if (byte === undefined) break
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: start + i + 1 }
  }
  throw new Error(`unreadable number at byte ${start}`)
}

const lengthDelimited = 2
const sizes: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** The fields of a message as slices of it, tag included, in their order. Throws on bytes that are no message. */
export function* topLevelFields(
  bytes: Uint8Array,
): Generator<{ readonly field: number; readonly bytes: Uint8Array }> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    const type = tag.value & 7
    let end = tag.end
    if (type === 0) end = readVarint(bytes, tag.end).end
    else if (type === lengthDelimited) {
      const length = readVarint(bytes, tag.end)
      end = length.end + length.value
    } else end += sizes[type] ?? Number.NaN
    if (!(end <= bytes.length)) throw new Error(`unreadable field at byte ${at}`)
    yield { field: Math.floor(tag.value / 8), bytes: bytes.subarray(at, end) }
    at = end
  }
}
