// Frames of WebSocket (RFC 6455) as a client needs them: ours are masked and whole, the server's may come in pieces. Messages of
// the kubelet's streams are binary, with the channel as their first byte.

export type Opcode = 'continuation' | 'text' | 'binary' | 'close' | 'ping' | 'pong'

const codes: Readonly<Record<Opcode, number>> = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
}
const opcodes = new Map(Object.entries(codes).map(([name, code]) => [code, name as Opcode]))

/** A message that is longer is not one of a terminal. */
const maxMessage = 16 * 1024 * 1024

interface Message {
  readonly opcode: Exclude<Opcode, 'continuation'>
  readonly payload: Uint8Array
}

/** `mask`: four random bytes. */
export function encodeFrame(opcode: Opcode, payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const { length } = payload
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = new Uint8Array(2 + extended + 4 + length)
  const view = new DataView(frame.buffer)
  frame[0] = 0x80 | codes[opcode]
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127)
  if (extended === 2) view.setUint16(2, length)
  if (extended === 8) view.setBigUint64(2, BigInt(length))
  frame.set(mask.subarray(0, 4), 2 + extended)
  const at = 6 + extended
  for (let i = 0; i < length; i += 1) frame[at + i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0)
  return frame
}

interface Frame {
  readonly final: boolean
  readonly opcode: Opcode
  readonly payload: Uint8Array
  readonly size: number
}

/** Whole messages out of bytes as they come. Throws on what no server may send. */
export class MessageReader {
  private left: Uint8Array = new Uint8Array()
  private parts: Uint8Array[] = []
  private begun: Message['opcode'] | undefined

  push(bytes: Uint8Array): readonly Message[] {
    this.left = concat([this.left, bytes])
    const messages: Message[] = []
    for (let frame = readFrame(this.left); frame !== undefined; frame = readFrame(this.left)) {
      this.left = this.left.subarray(frame.size)
      const message = this.take(frame)
      if (message !== undefined) messages.push(message)
    }
    return messages
  }

  private take({ final, opcode, payload }: Frame): Message | undefined {
    // Control frames may stand between the pieces of a message.
    if (opcode === 'close' || opcode === 'ping' || opcode === 'pong') return { opcode, payload }
    if ((opcode === 'continuation') === (this.begun === undefined)) throw new Error('a piece of no message')
    if (opcode !== 'continuation') this.begun = opcode
    this.parts.push(payload)
    if (this.parts.reduce((sum, part) => sum + part.length, 0) > maxMessage)
      throw new Error('a message is too long')
    if (!final) return undefined
    const message = { opcode: this.begun ?? 'binary', payload: concat(this.parts) }
    this.parts = []
    this.begun = undefined
    return message
  }
}

/** Undefined: not all of it is there yet. */
function readFrame(bytes: Uint8Array): Frame | undefined {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return undefined
  const opcode = opcodes.get(first & 0x0f)
  if (opcode === undefined || (first & 0x70) !== 0) throw new Error('not a frame of WebSocket')
  if ((second & 0x80) !== 0) throw new Error('a server must not mask')
  const short = second & 0x7f
  const extended = short < 126 ? 0 : short === 126 ? 2 : 8
  const at = 2 + extended
  if (bytes.length < at) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length =
    extended === 0 ? BigInt(short) : extended === 2 ? BigInt(view.getUint16(2)) : view.getBigUint64(2)
  if (length > BigInt(maxMessage)) throw new Error('a message is too long')
  const size = at + Number(length)
  if (bytes.length < size) return undefined
  return { final: (first & 0x80) !== 0, opcode, payload: bytes.slice(at, size), size }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
