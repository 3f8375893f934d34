// HTTP/2 frames (RFC 9113, section 4) as bytes: taken apart as they come, and put together.

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

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const setting = { enablePush: 2, maxStreams: 3, initialWindow: 4, maxFields: 6 } as const

export const resetCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
/** What both sides may send until they agree on more; we never do. */
export const maxFrameBytes = 16_384
export const initialWindowBytes = 65_535
export const maxWindowBytes = 2 ** 31 - 1
export const frameHeaderBytes = 9

/** The peer broke the rules: nothing that follows on this connection can be understood. */
export class ProtocolFault extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** A frame with its header filled in; the payload is the caller's to write, from byte 9 on. */
export function newFrame(length: number, type: number, flags: number, stream: number): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + length)
  frame.writeUIntBE(length, 0, 3)
  frame[3] = type
  frame[4] = flags
  frame.writeUInt32BE(stream, 5)
  return frame
}

/** A frame of numbers of 32 bits: RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const frame = newFrame(4, type, 0, stream)
  frame.writeUInt32BE(value, frameHeaderBytes)
  return frame
}

export function settingsFrame(values: readonly (readonly [id: number, value: number])[]): Buffer {
  const frame = newFrame(6 * values.length, frameType.settings, 0, 0)
  values.forEach(([id, value], i) => {
    frame.writeUInt16BE(id, frameHeaderBytes + 6 * i)
    frame.writeUInt32BE(value, frameHeaderBytes + 6 * i + 2)
  })
  return frame
}

export const ackFrame = (type: number, payload: Buffer): Buffer => {
  const frame = newFrame(payload.length, type, flag.ack, 0)
  payload.copy(frame, frameHeaderBytes)
  return frame
}

/** A header block, in as many frames as it needs. */
export function headerFrames(stream: number, block: Uint8Array, isLast: boolean): Buffer[] {
  const frames: Buffer[] = []
  let at = 0
  do {
    const part = block.subarray(at, at + maxFrameBytes)
    at += part.length
    const flags =
      (frames.length === 0 && isLast ? flag.endStream : 0) | (at >= block.length ? flag.endHeaders : 0)
    const type = frames.length === 0 ? frameType.headers : frameType.continuation
    const frame = newFrame(part.length, type, flags, stream)
    frame.set(part, frameHeaderBytes)
    frames.push(frame)
  } while (at < block.length)
  return frames
}
