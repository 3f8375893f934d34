// One request and its answer on a connection: the messages as they come, then the status.
import { constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import { decodeGrpcMessage } from '../../../core/cri/grpc-message.js'
import type { Connection, RuntimeCall } from '../connection/connection.js'
import { frameMessage } from '../server/grpc-frames.js'
import { CallFailure } from './call-failure.js'
import { createUnframer } from './unframe.js'

export interface Exchange {
  readonly path: string
  readonly message: Uint8Array
  /** Sent to the runtime; undefined: the call may take for ever. */
  readonly timeoutMs: number | undefined
  readonly maxReceiveBytes: number
  readonly onMessage: (message: Buffer) => void
}

interface Running {
  readonly call: RuntimeCall
  /** Resolves with an answer whose status is OK; rejects with CallFailure, or with the signal's reason. */
  readonly ended: Promise<void>
}

/** The specification's table; what is not in it is INTERNAL. */
const byReset: Readonly<Record<number, number>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: grpcCode.unavailable,
  [constants.NGHTTP2_CANCEL]: grpcCode.cancelled,
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: grpcCode.resourceExhausted,
}
/** gRPC's own: eight digits at most. */
const mostMs = 99_999_999

const timeoutText = (ms: number): string =>
  ms <= mostMs ? `${Math.ceil(ms)}m` : `${Math.min(mostMs, Math.ceil(ms / 1000))}S`

const headersOf = (path: string, timeoutMs: number | undefined): Record<string, string> => ({
  ':method': 'POST',
  ':path': path,
  // Go's servers refuse the path of a socket; the kubelet sends this as well.
  ':authority': 'localhost',
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': 'keelson',
  ...(timeoutMs !== undefined && { 'grpc-timeout': timeoutText(timeoutMs) }),
})

export function exchange(connection: Connection, what: Exchange, signal: AbortSignal): Running {
  const call = connection.open(headersOf(what.path, what.timeoutMs), false)
  const ended = receive(call, what, signal)
  call.stream.end(frameMessage(what.message))
  return { call, ended }
}

function receive(call: RuntimeCall, what: Exchange, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const { stream } = call
    const unframer = createUnframer(what.maxReceiveBytes)
    let headers: IncomingHttpHeaders | undefined
    let trailers: IncomingHttpHeaders | undefined
    const giveUp = (why: unknown): void => {
      reject(why)
      call.cancel()
    }
    const stop = (): void => giveUp(signal.reason)
    stream.on('response', (given: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      headers = given
      if (given['grpc-status'] !== undefined) trailers = given
      const foreign = foreignAnswer(given)
      if (foreign !== undefined) giveUp(foreign)
    })
    stream.on('trailers', (given: IncomingHttpHeaders) => {
      trailers = given
    })
    stream.on('data', (piece: Buffer) => {
      try {
        unframer.take(piece, what.onMessage)
      } catch (error) {
        giveUp(error)
      }
    })
    stream.once('close', () => {
      signal.removeEventListener('abort', stop)
      const failure = trailers === undefined ? endedEarly(call, headers !== undefined) : statusIn(trailers)
      if (failure !== undefined) reject(failure)
      else if (unframer.isBetween) resolve()
      else reject(new CallFailure('malformed', 'the answer ended inside a message'))
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function foreignAnswer(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): CallFailure | undefined {
  const status = headers[':status']
  if (status !== 200) return new CallFailure('foreign', `HTTP status ${String(status)}`)
  const type = headers['content-type'] ?? ''
  return type.startsWith('application/grpc')
    ? undefined
    : new CallFailure('foreign', `an answer of type '${type}'`)
}

function endedEarly({ stream, isConnectionLost }: RuntimeCall, hasHeaders: boolean): CallFailure {
  const reset = stream.rstCode ?? constants.NGHTTP2_NO_ERROR
  if (isConnectionLost) return new CallFailure('broken', 'the connection was lost during the call')
  if (reset !== constants.NGHTTP2_NO_ERROR)
    return new CallFailure('broken', `the stream was reset with code ${reset}`, {
      code: byReset[reset] ?? grpcCode.internal,
    })
  return new CallFailure('malformed', hasHeaders ? 'an answer without a status' : 'no answer')
}

function statusIn(trailers: IncomingHttpHeaders): CallFailure | undefined {
  const given = String(trailers['grpc-status'] ?? '')
  const code = /^\d{1,3}$/.test(given) ? Number(given) : grpcCode.unknown
  if (code === grpcCode.ok) return undefined
  const details = trailers['grpc-status-details-bin']
  return new CallFailure('answered', decodeGrpcMessage(String(trailers['grpc-message'] ?? '')), {
    code,
    statusDetails: details === undefined ? undefined : Buffer.from(String(details), 'base64'),
  })
}
