// Joins a client's stream with one to the runtime: headers, data and trailers of both directions as they come, at the
// pace of the slower side. When one side ends early, so does the other.

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { grpcCode } from '../../core/grpc-codes.js'
import type { RawMetadata, WholeAnswer } from '../../ports/cri-calls.js'
import { statusOf, toHeaders } from './proxy-headers.js'
import type { Link } from './proxy-link.js'
import type { Reply } from './server-reply.js'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = constants

export interface Joint {
  readonly link: Link
  readonly session: ClientHttp2Session
  readonly up: ClientHttp2Stream
  readonly reply: Reply
  /** Answers of headers alone with this code are kept from the client. */
  readonly holdBack?: number
}

export interface Joined {
  readonly code: number
  readonly heldBack?: WholeAnswer
}

/**
 * Client to runtime. Ends the runtime's side when the client half-closes: mostly that comes in the same turn of the loop as
 * the message, and goes in one frame with it, where a runtime would else be woken twice.
 */
export function pumpRequest(
  from: ServerHttp2Stream,
  to: ClientHttp2Stream,
  count: (n: number) => void,
): void {
  from.on('data', (chunk: Buffer) => {
    count(chunk.length)
    if (!to.writable) return
    if (to.writableCorked === 0) {
      to.cork()
      setImmediate(() => to.uncork())
    }
    if (to.write(chunk)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
  from.once('end', () => to.end())
}

/** Runtime to client. Resolves when the client's stream is over, or when the answer was held back. */
export function joinAnswer({ link, session, up, reply, holdBack }: Joint): Promise<Joined> {
  return new Promise((resolve) => {
    const caller = reply.stream
    let code: number = grpcCode.unknown
    let trailers: OutgoingHttpHeaders = {}
    let isComplete = false
    let isHeld = false

    up.on('response', (headers: IncomingHttpHeaders, flags: number, raw?: RawMetadata) => {
      const list = raw ?? Object.entries(headers).flatMap(([k, v]) => [k, String(v)])
      if ((flags & NGHTTP2_FLAG_END_STREAM) === 0) return reply.open(toHeaders(list, headers))
      code = statusOf(list)
      isComplete = true
      if (code !== holdBack) return reply.only(toHeaders(list, headers))
      isHeld = true
      resolve({
        code,
        heldBack: { code, headers: list, trailers: [], body: new Uint8Array(), message: undefined },
      })
    })
    up.on('data', (chunk: Buffer) => {
      link.received(session, chunk.length)
      if (!reply.write(chunk) && caller.writableLength >= link.aheadBytes(session)) up.pause()
    })
    const onDrain = (): void => {
      up.resume()
    }
    caller.on('drain', onDrain)
    up.on('trailers', (headers: IncomingHttpHeaders, _flags: number, raw?: RawMetadata) => {
      const list = raw ?? []
      code = statusOf(list)
      trailers = toHeaders(list, headers)
    })
    up.once('end', () => {
      // A reset also ends the readable side; only a whole answer has no reset code.
      if (up.rstCode !== NGHTTP2_NO_ERROR || up.aborted || isHeld) return
      if (session.destroyed && Object.keys(trailers).length === 0 && !isComplete) return
      isComplete = true
      reply.end(trailers)
    })
    up.on('error', () => {})
    up.once('close', () => {
      if (isHeld) caller.off('drain', onDrain)
      if (isComplete || reply.isOver) return
      code = breakOff(session, up, reply, link)
    })
    const onCallerClose = (): void => {
      if (!up.destroyed && !up.closed) {
        up.close(caller.rstCode === NGHTTP2_NO_ERROR ? NGHTTP2_CANCEL : caller.rstCode)
        code = grpcCode.cancelled
      }
      if (!isHeld) resolve({ code })
    }
    if (caller.destroyed || caller.closed) onCallerClose()
    else caller.once('close', onCallerClose)
  })
}

/** The runtime's side ended in the middle: a reset goes on as it is, a lost connection is UNAVAILABLE. */
function breakOff(session: ClientHttp2Session, up: ClientHttp2Stream, reply: Reply, link: Link): number {
  if (!session.destroyed && !session.closed && up.rstCode !== NGHTTP2_NO_ERROR) {
    reply.reset(up.rstCode)
    return grpcCode.unknown
  }
  reply.refuse({
    code: grpcCode.unavailable,
    message: `keelson: the container runtime at ${link.socketPath} closed the connection during the call`,
  })
  return grpcCode.unavailable
}
