// One question to the runtime whose whole answer is wanted before anything is said to the client.
import { constants } from 'node:http2'
import { fail } from '../../core/errors.js'
import { grpcCode } from '../../core/grpc-codes.js'
import type { RawMetadata, WholeAnswer } from '../../ports/cri-calls.js'
import type { RuntimeStream } from './h2-stream.js'
import { unframeOne } from './proxy-frames.js'
import { findHeader, statusOf } from './proxy-headers.js'
import type { Link } from './proxy-link.js'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** A whole answer is held in memory; anything larger goes by as a stream. */
export const maxWholeBytes = 64 * 1024 * 1024

export interface Question {
  readonly link: Link
  readonly up: RuntimeStream
  readonly signal: AbortSignal
}

export function readWhole({ link, up, signal }: Question): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    let headers: RawMetadata = []
    const done = (): void => signal.removeEventListener('abort', stop)
    const stop = (): void => {
      up.cancel(NGHTTP2_CANCEL)
      reject(fail('runtime.cancelled', 'the caller ended the call'))
    }
    up.attach({
      headers(list, isLast) {
        headers = list
        if (!isLast) return
        done()
        resolve(toWhole(headers, [], Buffer.alloc(0)))
      },
      data(portion) {
        size += portion.size
        up.consumed(portion.size)
        if (size <= maxWholeBytes) return void parts.push(portion.copy())
        done()
        up.cancel(NGHTTP2_CANCEL)
        reject(fail('runtime.too-large', `the runtime's answer is larger than ${maxWholeBytes} bytes`))
      },
      end(trailers) {
        done()
        resolve(toWhole(headers, trailers, Buffer.concat(parts)))
      },
      broken(code) {
        done()
        reject(brokenOff(code, link))
      },
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

function brokenOff(reset: number | undefined, link: Link): Error {
  const at = { socket: link.socketPath }
  if (reset === undefined || reset === NGHTTP2_NO_ERROR)
    return fail(
      'runtime.unavailable',
      `the runtime at ${link.socketPath} closed the connection during the call`,
      at,
    )
  if (reset === NGHTTP2_REFUSED_STREAM)
    return fail('runtime.unavailable', `the runtime at ${link.socketPath} refused the stream`, at)
  if (reset === NGHTTP2_CANCEL)
    return fail('runtime.cancelled', `the runtime at ${link.socketPath} cancelled the call`, at)
  return fail('runtime.malformed', `the runtime at ${link.socketPath} reset the stream (${reset})`, at)
}
