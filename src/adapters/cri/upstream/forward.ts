// Joins a client's stream with one to the runtime: headers, data and trailers of both directions as they come, at the
// pace of the slower side. When one side ends early, so does the other.
import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import type { RawMetadata, WholeAnswer } from '../../../ports/cri-calls.js'
import type { RuntimeCall } from '../connection/connection.js'
import { sensitiveIn, statusOf, toHeaders } from '../server/grpc-headers.js'
import type { Reply } from '../server/reply.js'

const { NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = constants

interface Forwarded {
  readonly code: number
  readonly heldBack?: WholeAnswer
}

/**
 * Client to runtime. The end of the request mostly comes in the same turn of the loop as its message, and goes in one frame with
 * it, where a runtime would else be woken twice.
 */
export function forwardRequest(
  from: ServerHttp2Stream,
  to: ClientHttp2Stream,
  count: (bytes: number) => void,
): void {
  const resume = (): void => void from.resume()
  from.on('data', (chunk: Buffer) => {
    count(chunk.length)
    if (!to.writable) return
    if (to.writableCorked === 0) {
      to.cork()
      setImmediate(() => to.uncork())
    }
    if (to.write(chunk)) return
    from.pause()
    to.once('drain', resume)
  })
  // The rest of the request is discarded: it must not keep the caller waiting.
  to.once('close', resume)
  // A stream that its caller has reset ends in Node like one whose request is whole: the runtime must not see it as that.
  from.once('end', () => {
    if (!from.aborted) to.end()
  })
}

/**
 * Runtime to client. Resolves when the client's stream is over, or when the answer was held back: one of headers alone
 * with the code `holdBack` is kept from the client.
 */
export function forwardAnswer(call: RuntimeCall, reply: Reply, holdBack?: number): Promise<Forwarded> {
  return new Promise((resolve) => {
    const up = call.stream
    const caller = reply.stream
    let code: number = grpcCode.unknown
    let trailers: RawMetadata = []
    let marked: readonly string[] = []
    let isWhole = false
    let isHeld = false

    up.on('response', (headers: IncomingHttpHeaders, flags: number, raw: RawMetadata = []) => {
      const sensitive = sensitiveIn(headers)
      if ((flags & NGHTTP2_FLAG_END_STREAM) === 0) return reply.open(toHeaders(raw, sensitive))
      code = statusOf(raw)
      isWhole = true
      if (code !== holdBack) return reply.only(toHeaders(raw, sensitive))
      isHeld = true
      resolve({
        code,
        heldBack: { code, headers: raw, trailers: [], body: new Uint8Array(), message: undefined },
      })
    })
    up.on('data', (chunk: Buffer) => {
      if (!reply.write(chunk) && caller.writableLength >= call.aheadBytes) up.pause()
    })
    const resume = (): void => void up.resume()
    caller.on('drain', resume)
    up.on('trailers', (headers: IncomingHttpHeaders, _flags: number, raw: RawMetadata = []) => {
      trailers = raw
      marked = sensitiveIn(headers)
    })
    up.once('end', () => {
      // A reset and a lost connection end a stream too.
      const isCutOff = up.rstCode !== NGHTTP2_NO_ERROR || (trailers.length === 0 && call.isConnectionLost)
      if (!isWhole && isCutOff) return
      if (!isWhole) {
        isWhole = true
        code = statusOf(trailers)
        reply.end(toHeaders(trailers, marked))
      }
      // After a whole answer the rest of the request is not needed.
      if (!up.writableEnded) call.cancel()
    })
    up.once('close', () => {
      caller.off('drain', resume)
      if (!isWhole && !reply.isOver) code = breakOff(call, reply)
    })
    const onCallerClose = (): void => {
      if (!up.closed && !isWhole) code = grpcCode.cancelled
      if (!up.closed) call.cancel()
      if (!isHeld) resolve({ code })
    }
    if (caller.destroyed || caller.closed) onCallerClose()
    else caller.once('close', onCallerClose)
  })
}

/** The runtime's side ended in the middle: a reset goes on as it is, a lost connection is UNAVAILABLE. */
function breakOff({ stream, socketPath, isConnectionLost }: RuntimeCall, reply: Reply): number {
  if (stream.rstCode !== NGHTTP2_NO_ERROR && !isConnectionLost) {
    reply.reset(stream.rstCode)
    return grpcCode.unknown
  }
  reply.refuse({
    code: grpcCode.unavailable,
    message: `keelson: the container runtime at ${socketPath} closed the connection during the call`,
  })
  return grpcCode.unavailable
}
