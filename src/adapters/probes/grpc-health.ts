// One call of grpc.health.v1.Health/Check on a connection of its own, without TLS.
import { type ClientHttp2Stream, connect, constants } from 'node:http2'
import { decodeGrpcMessage } from '../../core/cri/grpc-message.js'
import { parseHealthAnswer } from '../../core/cri/health-answer.js'
import { encodeVarint, tagOf, wireType } from '../../core/cri/protobuf-wire.js'
import type { HealthAnswer, ProbeTarget } from '../../ports/network/probe-calls.js'
import { keepSessionFor } from '../http2/keep-session.js'
import { dialFault, joinHostPort, lookup } from './dial.js'

const maxAnswer = 10 * 1024
const serviceTag = tagOf(1, wireType.lengthDelimited)
const unknownCode = 2
const internalCode = 13
const unavailableCode = 14
const headersOf = (authority: string, userAgent: string) => ({
  [constants.HTTP2_HEADER_METHOD]: 'POST',
  [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
  [constants.HTTP2_HEADER_AUTHORITY]: authority,
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': userAgent,
})

export function grpcHealth(
  { host, port }: ProbeTarget,
  { service, userAgent }: { readonly service: string; readonly userAgent: string },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<HealthAnswer> {
  return new Promise((resolve) => {
    const authority = joinHostPort(host, port)
    const session = connect(`http://${authority}`, { lookup, settings: { enablePush: false } })
    let isConnected = false
    const end = (answer: HealthAnswer): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      session.destroy()
      resolve(answer)
    }
    const notConnected = (why: 'timeout' | 'other', message: string): void =>
      end({ kind: 'not-connected', why, message })
    const fail = (error: NodeJS.ErrnoException): void =>
      isConnected
        ? end({ kind: 'refused', code: unavailableCode, message: error.message })
        : notConnected('other', dialFault(error, host, port))
    const stop = (): void => notConnected('other', 'context canceled')
    const timer = setTimeout(
      () => (isConnected ? end({ kind: 'timeout' }) : notConnected('timeout', 'context deadline exceeded')),
      timeoutMs,
    )
    signal.addEventListener('abort', stop, { once: true })
    session.on('error', fail)
    const closed = (): void => fail(new Error('the connection was closed'))
    session.on('close', closed)
    // Connected is a server that speaks HTTP/2, as gRPC counts it.
    session.on('remoteSettings', () => {
      isConnected = true
    })
    const stream = session.request(headersOf(authority, userAgent))
    // What a pod answers must not end the kubelet.
    keepSessionFor(stream, session)
    stream.on('error', fail)
    readAnswer(stream, end, closed)
    stream.end(requestOf(service))
  })
}

/** The gRPC prefix (not compressed, length) and the message with the name of the service. */
function requestOf(service: string): Buffer {
  const name = Buffer.from(service)
  const message =
    name.length === 0
      ? Buffer.alloc(0)
      : Buffer.concat([Buffer.of(serviceTag), encodeVarint(BigInt(name.length)), name])
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

function readAnswer(
  stream: ClientHttp2Stream,
  end: (answer: HealthAnswer) => void,
  closed: () => void,
): void {
  const parts: Buffer[] = []
  let size = 0
  let status: unknown
  let message: unknown
  const readStatus = (headers: Readonly<Record<string, unknown>>): void => {
    status = headers['grpc-status'] ?? status
    message = headers['grpc-message'] ?? message
  }
  stream.on('response', readStatus)
  stream.on('trailers', readStatus)
  stream.on('data', (part: Buffer) => {
    parts.push(part)
    size += part.length
    if (size > maxAnswer) end({ kind: 'refused', code: unknownCode, message: 'the answer is too long' })
  })
  stream.on('end', () => {
    // A connection that ends before the answer ends its stream too.
    if (status === undefined) return closed()
    const code = typeof status === 'string' && /^\d{1,2}$/.test(status) ? Number(status) : unknownCode
    if (code !== 0)
      end({ kind: 'refused', code, message: typeof message === 'string' ? decodeGrpcMessage(message) : '' })
    else end(healthOf(parseHealthAnswer(Buffer.concat(parts))))
  })
}

const healthOf = (status: number | undefined): HealthAnswer =>
  status === undefined
    ? { kind: 'refused', code: internalCode, message: 'the answer is no HealthCheckResponse' }
    : { kind: 'status', status }
