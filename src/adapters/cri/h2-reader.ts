// Takes the peer's bytes apart into frames, however they are cut. The payload of DATA is handed on as it comes; other frames,
// which are small, when they are whole. What is handed out is valid only during the call.
import { flag, frameHeaderBytes, frameType, maxFrameBytes, ProtocolFault, resetCode } from './h2-frames.js'

export interface FrameSink {
  /** A DATA frame begins; `length` is what it takes of the window, padding included. */
  beginData(stream: number, length: number): void
  data(stream: number, bytes: Buffer): void
  endData(stream: number, isLast: boolean): void
  frame(type: number, flags: number, stream: number, payload: Buffer): void
}

export interface FrameReader {
  /** Throws ProtocolFault. */
  push(bytes: Buffer): void
}

export function createFrameReader(sink: FrameSink): FrameReader {
  const header = Buffer.alloc(frameHeaderBytes)
  const small = Buffer.alloc(maxFrameBytes)
  let headerFilled = 0
  let length = 0
  let type = 0
  let flags = 0
  let stream = 0
  /** Of the payload. */
  let left = 0
  let smallFilled = 0
  let padding = 0
  let isPaddingRead = true

  function begin(head: Buffer, at: number): void {
    length = head.readUIntBE(at, 3)
    type = head[at + 3] ?? 0
    flags = head[at + 4] ?? 0
    stream = head.readUInt32BE(at + 5) & 0x7fffffff
    if (length > maxFrameBytes)
      throw new ProtocolFault(resetCode.frameSize, `a frame of ${length} bytes was not agreed`)
    left = length
    smallFilled = 0
    padding = 0
    isPaddingRead = (flags & flag.padded) === 0
    if (type === frameType.data) sink.beginData(stream, length)
  }

  function takeData(bytes: Buffer, at: number): number {
    let next = at
    if (!isPaddingRead && left > 0 && next < bytes.length) {
      padding = bytes[next] ?? 0
      isPaddingRead = true
      next += 1
      left -= 1
      if (padding > left) throw new ProtocolFault(resetCode.protocol, 'more padding than there are bytes')
    }
    const end = Math.min(bytes.length, next + left)
    const useful = Math.min(end, next + left - padding)
    if (useful > next) sink.data(stream, bytes.subarray(next, useful))
    left -= end - next
    return end
  }

  function takeSmall(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + left)
    left -= end - at
    if (smallFilled === 0 && left === 0) {
      sink.frame(type, flags, stream, bytes.subarray(at, end))
      return end
    }
    bytes.copy(small, smallFilled, at, end)
    smallFilled += end - at
    if (left === 0) sink.frame(type, flags, stream, small.subarray(0, smallFilled))
    return end
  }

  return {
    push(bytes) {
      let at = 0
      for (;;) {
        if (headerFilled < frameHeaderBytes) {
          if (headerFilled === 0 && bytes.length - at >= frameHeaderBytes) {
            begin(bytes, at)
            at += frameHeaderBytes
          } else {
            const n = bytes.copy(
              header,
              headerFilled,
              at,
              Math.min(bytes.length, at + frameHeaderBytes - headerFilled),
            )
            at += n
            headerFilled += n
            if (headerFilled < frameHeaderBytes) return
            begin(header, 0)
          }
          headerFilled = frameHeaderBytes
        }
        if (type === frameType.data) {
          at = takeData(bytes, at)
          if (left > 0) return
          headerFilled = 0
          sink.endData(stream, (flags & flag.endStream) !== 0)
        } else {
          if (at >= bytes.length && left > 0) return
          at = takeSmall(bytes, at)
          if (left > 0) return
          headerFilled = 0
        }
        if (at >= bytes.length) return
      }
    },
  }
}
