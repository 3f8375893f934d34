// The messages of one gRPC answer out of its bytes, which come in pieces of any size.
import { CallFailure } from './call-failure.js'

const prefixBytes = 5
/** A length that no runtime sends: text or noise where a frame should begin. */
const absurdBytes = 1024 * 1024 * 1024

interface Unframer {
  /** Hands over the messages that this piece completes. Throws CallFailure, after those that came before. */
  take(piece: Buffer, onMessage: (message: Buffer) => void): void
  /** Between two messages: nothing of one is missing. */
  readonly isBetween: boolean
}

export function createUnframer(maxBytes: number): Unframer {
  let parts: Buffer[] = []
  let held = 0
  /** Of the frame that has begun, with its prefix. Undefined: the prefix is not complete. */
  let wanted: number | undefined
  return {
    take(piece, onMessage) {
      parts.push(piece)
      held += piece.length
      for (;;) {
        if (held < (wanted ?? prefixBytes)) return
        // Only now, so that a large message is put together once.
        const all = parts.length === 1 ? (parts[0] ?? piece) : Buffer.concat(parts)
        parts = [all]
        wanted ??= prefixBytes + lengthIn(all, maxBytes)
        if (held < wanted) return
        const message = all.subarray(prefixBytes, wanted)
        held -= wanted
        parts = held === 0 ? [] : [all.subarray(wanted)]
        wanted = undefined
        onMessage(message)
      }
    },
    get isBetween() {
      return held === 0
    },
  }
}

function lengthIn(frame: Buffer, maxBytes: number): number {
  const length = frame.readUInt32BE(1)
  if (length >= absurdBytes)
    throw new CallFailure('malformed', `no gRPC message: it would have ${length} bytes`)
  // No compression was offered, so that none may be used.
  if (frame[0] !== 0) throw new CallFailure('malformed', `a message with the unknown flag ${frame[0] ?? ''}`)
  if (length > maxBytes)
    throw new CallFailure('too-large', `message larger than the limit (${length} bytes, limit ${maxBytes})`)
  return length
}
