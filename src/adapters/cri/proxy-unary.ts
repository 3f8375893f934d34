// One question to the runtime whose whole answer is wanted before anything is said to the client.

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { fail } from '../../core/errors.js'
import { grpcCode } from '../../core/grpc-codes.js'
import type { RawMetadata, WholeAnswer } from '../../ports/cri-calls.js'
import { unframeOne } from './proxy-frames.js'
import { findHeader, statusOf } from './proxy-headers.js'
import type { Link } from './proxy-link.js'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = constants

/** A whole answer is held in memory; anything larger goes by as a stream. */
export const maxWholeBytes = 64 * 1024 * 1024

/** HTTP/2 reset codes as gRPC reads them; any other is INTERNAL. */
const codeOfReset: Readonly<Record<number, number>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: grpcCode.unavailable,
  [NGHTTP2_CANCEL]: grpcCode.cancelled,
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: grpcCode.resourceExhausted,
}

export interface Question {
  readonly link: Link
  readonly session: ClientHttp2Session
  readonly up: ClientHttp2Stream
  readonly signal: AbortSignal
}

export function readWhole({ link, session, up, signal }: Question): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    let headers: RawMetadata | undefined
    let trailers: RawMetadata = []
    let isHeadersOnly = false
    const stop = (): void => {
      up.close(NGHTTP2_CANCEL)
      reject(fail('runtime.cancelled', 'the caller ended the call'))
    }
    up.on('response', (parsed: IncomingHttpHeaders, flags: number, raw?: RawMetadata) => {
      headers = raw ?? Object.entries(parsed).flatMap(([k, v]) => [k, String(v)])
      isHeadersOnly = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    })
    up.on('data', (chunk: Buffer) => {
      size += chunk.length
      link.received(session, chunk.length)
      if (size <= maxWholeBytes) return void parts.push(chunk)
      up.close(NGHTTP2_CANCEL)
      reject(fail('runtime.too-large', `the runtime's answer is larger than ${maxWholeBytes} bytes`))
    })
    up.on('trailers', (_headers: IncomingHttpHeaders, _flags: number, raw?: RawMetadata) => {
      trailers = raw ?? []
    })
    up.on('error', () => {})
    up.once('close', () => {
      signal.removeEventListener('abort', stop)
      const isWhole = headers !== undefined && up.rstCode === NGHTTP2_NO_ERROR && !up.aborted
      if (!isWhole || headers === undefined || (trailers.length === 0 && !isHeadersOnly && session.destroyed))
        return reject(brokenOff(session, up, link))
      resolve(toWhole(headers, trailers, Buffer.concat(parts)))
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function toWhole(headers: RawMetadata, trailers: RawMetadata, body: Buffer): WholeAnswer {
  const code = statusOf(trailers.length === 0 ? headers : trailers)
  const encoding = findHeader(headers, 'grpc-encoding')
  return {
    code,
    headers,
    trailers,
    body,
    message: code === grpcCode.ok ? messageIn(body, encoding) : undefined,
  }
}

/** A body that we cannot read is still the runtime's answer. */
function messageIn(body: Buffer, encoding: string | undefined): Buffer | undefined {
  try {
    return unframeOne(body, encoding, maxWholeBytes)
  } catch {
    return undefined
  }
}

function brokenOff(session: ClientHttp2Session, up: ClientHttp2Stream, link: Link): Error {
  const at = { socket: link.socketPath }
  if (session.destroyed || session.closed || up.rstCode === NGHTTP2_NO_ERROR)
    return fail(
      'runtime.unavailable',
      `the runtime at ${link.socketPath} closed the connection during the call`,
      at,
    )
  const code = codeOfReset[up.rstCode] ?? grpcCode.internal
  if (code === grpcCode.unavailable)
    return fail('runtime.unavailable', `the runtime at ${link.socketPath} refused the stream`, at)
  return fail('runtime.malformed', `the runtime at ${link.socketPath} reset the stream (${up.rstCode})`, at)
}
