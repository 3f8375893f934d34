// HTTP/2 frames as bytes (RFC 9113), for peers that say what no library would say.
import type { Socket } from 'node:net'

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
const maxFrameBytes = 16_384

export function frameOf(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/** RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(value)
  return frameOf(type, 0, stream, payload)
}

export function settingsFrame(...values: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length)
  values.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  })
  return frameOf(frameType.settings, 0, 0, payload)
}

/** A number of HPACK with seven bits in its first byte. */
function hpackLength(n: number): number[] {
  if (n < 127) return [n]
  const bytes = [127]
  let rest = n - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return [...bytes, rest]
}

/** Names and values in turn as a header block: no table, nothing compressed. */
export function fieldBlock(...fields: readonly string[]): Buffer {
  const parts: Buffer[] = []
  for (let i = 0; i < fields.length; i += 2) {
    parts.push(Buffer.from([0]))
    for (const text of [fields[i] ?? '', fields[i + 1] ?? ''])
      parts.push(Buffer.from(hpackLength(text.length)), Buffer.from(text, 'latin1'))
  }
  return Buffer.concat(parts)
}

/** A header block, in as many frames as it needs. */
export function headerFrames(stream: number, block: Uint8Array, isLast: boolean): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += maxFrameBytes) {
    const isFirst = at === 0
    const isWhole = at + maxFrameBytes >= block.length
    const flags = (isFirst && isLast ? flag.endStream : 0) | (isWhole ? flag.endHeaders : 0)
    const type = isFirst ? frameType.headers : frameType.continuation
    frames.push(frameOf(type, flags, stream, block.subarray(at, at + maxFrameBytes)))
  }
  return Buffer.concat(frames)
}

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Each frame that comes, after `skip` bytes. */
export function onFrames(socket: Socket, skip: number, onFrame: (frame: Frame) => void): void {
  let rest = Buffer.alloc(0)
  let left = skip
  socket.on('data', (bytes: Buffer) => {
    const greeting = Math.min(left, bytes.length)
    left -= greeting
    rest = Buffer.concat([rest, bytes.subarray(greeting)])
    for (;;) {
      if (rest.length < 9) return
      const end = 9 + rest.readUIntBE(0, 3)
      if (rest.length < end) return
      const frame = {
        type: rest[3] ?? 0,
        flags: rest[4] ?? 0,
        stream: rest.readUInt32BE(5) & 0x7fffffff,
        payload: rest.subarray(9, end),
      }
      rest = rest.subarray(end)
      onFrame(frame)
    }
  })
}
