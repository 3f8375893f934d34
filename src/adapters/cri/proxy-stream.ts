// Joins a client's stream with one to the runtime: headers, data and trailers of both directions as they come, at the
// pace of the slower side. When one side ends early, so does the other.
import { constants, type ServerHttp2Stream } from 'node:http2'
import { grpcCode } from '../../core/grpc-codes.js'
import type { WholeAnswer } from '../../ports/cri-calls.js'
import type { RuntimeConnection } from './h2-connection.js'
import type { Portion } from './h2-parts.js'
import type { RuntimeStream } from './h2-stream.js'
import { statusOf, toHeaders } from './proxy-headers.js'
import type { Link } from './proxy-link.js'
import type { Reply } from './server-reply.js'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants

export interface Joint {
  readonly link: Link
  readonly connection: RuntimeConnection
  readonly up: RuntimeStream
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
 * the message, and goes in one write with it, where a runtime would else be woken twice.
 */
export function pumpRequest(from: ServerHttp2Stream, to: RuntimeStream, count: (n: number) => void): void {
  from.on('data', (chunk: Buffer) => {
    count(chunk.length)
    if (to.write(chunk)) return
    from.pause()
    to.onDrain = () => from.resume()
  })
  // A stream that its caller has reset ends in Node like one whose request is whole: the runtime must not take it for that.
  from.once('end', () => {
    if (!from.aborted) to.end()
  })
}

/** Runtime to client. Resolves when the client's stream is over, or when the answer was held back. */
export function joinAnswer({ link, connection, up, reply, holdBack }: Joint): Promise<Joined> {
  return new Promise((resolve) => {
    const caller = reply.stream
    let code: number = grpcCode.unknown
    let isHeld = false
    /** Came, and waits in the caller's stream: the runtime may not send as much again yet. */
    let waiting = 0
    const onDrain = (): void => {
      up.consumed(waiting)
      waiting = 0
    }
    caller.on('drain', onDrain)
    up.attach({
      headers(list, isLast, sensitive) {
        if (!isLast) return reply.open(toHeaders(list, sensitive))
        code = statusOf(list)
        if (code !== holdBack) return reply.only(toHeaders(list, sensitive))
        isHeld = true
        caller.off('drain', onDrain)
        resolve({
          code,
          heldBack: { code, headers: list, trailers: [], body: new Uint8Array(), message: undefined },
        })
      },
      data(portion) {
        waiting += portion.size
        if (say(portion, reply) || caller.writableLength < link.aheadBytes(connection)) onDrain()
      },
      end(list, sensitive) {
        code = statusOf(list)
        reply.end(toHeaders(list, sensitive))
      },
      broken(reset) {
        if (!reply.isOver) code = breakOff(reset, reply, link)
      },
    })
    const onCallerClose = (): void => {
      if (!up.isOver) {
        if (!up.isRemoteEnded) code = grpcCode.cancelled
        up.cancel(caller.rstCode === NGHTTP2_NO_ERROR ? NGHTTP2_CANCEL : caller.rstCode)
      }
      if (!isHeld) resolve({ code })
    }
    if (caller.destroyed || caller.closed) onCallerClose()
    else caller.once('close', onCallerClose)
  })
}

function say(portion: Portion, reply: Reply): boolean {
  const borrowed = portion.borrow()
  return borrowed === undefined ? reply.write(portion.copy()) : reply.writeBorrowed(borrowed)
}

/** The runtime's side ended in the middle: a reset goes on as it is, a lost connection is UNAVAILABLE. */
function breakOff(reset: number | undefined, reply: Reply, link: Link): number {
  if (reset !== undefined && reset !== NGHTTP2_NO_ERROR) {
    reply.reset(reset)
    return grpcCode.unknown
  }
  reply.refuse({
    code: grpcCode.unavailable,
    message: `keelson: the container runtime at ${link.socketPath} closed the connection during the call`,
  })
  return grpcCode.unavailable
}
