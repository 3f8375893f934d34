// One request to the runtime whose whole answer is needed before the client gets any of it.
import { constants, type IncomingHttpHeaders } from 'node:http2'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import { keelsonError } from '../../../core/errors.js'
import type { RawMetadata, WholeAnswer } from '../../../ports/cri-calls.js'
import type { RuntimeCall } from '../connection/connection.js'
import { unframeOne } from '../server/grpc-frames.js'
import { findHeader, statusOf } from '../server/grpc-headers.js'

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** A whole answer is held in memory; larger ones need the Stream* RPCs. */
const maxWholeBytes = 64 * 1024 * 1024

export function readWhole(call: RuntimeCall, signal: AbortSignal): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const up = call.stream
    const parts: Buffer[] = []
    let size = 0
    let headers: RawMetadata | undefined
    let trailers: RawMetadata = []
    let isHeadersOnly = false
    const giveUp = (error: Error): void => {
      call.cancel()
      reject(error)
    }
    const stop = (): void => giveUp(keelsonError('runtime.cancelled', 'the caller ended the call'))
    up.on('response', (_parsed: IncomingHttpHeaders, flags: number, raw: RawMetadata = []) => {
      headers = raw
      isHeadersOnly = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    })
    up.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxWholeBytes) parts.push(chunk)
      else
        giveUp(
          keelsonError('runtime.too-large', `the runtime's answer is larger than ${maxWholeBytes} bytes`),
        )
    })
    up.on('trailers', (_parsed: IncomingHttpHeaders, _flags: number, raw: RawMetadata = []) => {
      trailers = raw
    })
    up.once('close', () => {
      signal.removeEventListener('abort', stop)
      const isEnded = isHeadersOnly || trailers.length > 0 || !call.isConnectionLost
      if (headers === undefined || up.rstCode !== NGHTTP2_NO_ERROR || !isEnded) reject(brokenOff(call))
      else resolve(toWhole(headers, trailers, Buffer.concat(parts)))
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

function brokenOff({ stream, socketPath, isConnectionLost }: RuntimeCall): Error {
  const at = { socket: socketPath }
  const reset = stream.rstCode
  if (isConnectionLost || reset === NGHTTP2_NO_ERROR)
    return keelsonError(
      'runtime.unavailable',
      `the runtime at ${socketPath} closed the connection during the call`,
      at,
    )
  if (reset === NGHTTP2_REFUSED_STREAM)
    return keelsonError('runtime.unavailable', `the runtime at ${socketPath} refused the stream`, at)
  if (reset === NGHTTP2_CANCEL)
    return keelsonError('runtime.cancelled', `the runtime at ${socketPath} cancelled the call`, at)
  return keelsonError('runtime.malformed', `the runtime at ${socketPath} reset the stream (${reset})`, at)
}
