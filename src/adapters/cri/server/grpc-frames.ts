// gRPC's framing of messages inside an HTTP/2 body: a flag, a length, the bytes.
import { gunzipSync, inflateSync } from 'node:zlib'
import { keelsonError } from '../../../core/errors.js'

const prefixBytes = 5
const compressed = 1

/** A smaller message is copied behind its prefix, which costs less than a second write. */
const mostCopied = 65_536

/** Into the first bytes of the buffer. */
function writePrefix(into: Buffer, length: number): Buffer {
  into[0] = 0
  into.writeUInt32BE(length, 1)
  return into
}

export function frameMessage(message: Uint8Array): Buffer {
  const framed = writePrefix(Buffer.allocUnsafe(prefixBytes + message.length), message.length)
  framed.set(message, prefixBytes)
  return framed
}

/** The same bytes in one or two pieces: a copy of megabytes would be as much garbage. */
export const framePieces = (message: Uint8Array): readonly Uint8Array[] =>
  message.length <= mostCopied
    ? [frameMessage(message)]
    : [writePrefix(Buffer.allocUnsafe(prefixBytes), message.length), message]

const malformed = (why: string): Error =>
  keelsonError('request.invalid', `read a gRPC message: ${why}; is the peer a gRPC program?`)

/** The one message that a unary body holds. Undefined: the body is empty. Throws: cut off, several, or unreadable. */
export function unframeOne(body: Buffer, encoding: string | undefined, maxBytes: number): Buffer | undefined {
  if (body.length === 0) return undefined
  if (body.length < prefixBytes) throw malformed(`${body.length} bytes are too few for a frame`)
  const length = body.readUInt32BE(1)
  if (length !== body.length - prefixBytes)
    throw malformed(`the frame announces ${length} bytes and has ${body.length - prefixBytes}`)
  const message = body.subarray(prefixBytes)
  const flag = body[0]
  if (flag === 0) return message
  if (flag !== compressed) throw malformed(`unknown flag ${flag ?? ''}`)
  return decompress(message, encoding, maxBytes)
}

function decompress(message: Buffer, encoding: string | undefined, maxBytes: number): Buffer {
  const options = { maxOutputLength: maxBytes }
  try {
    if (encoding === 'gzip') return gunzipSync(message, options)
    if (encoding === 'deflate') return inflateSync(message, options)
  } catch (e) {
    throw malformed(`${encoding ?? ''} data is broken or too long: ${e instanceof Error ? e.message : ''}`)
  }
  throw malformed(`compressed with ${encoding ?? 'an encoding without a name'}`)
}
