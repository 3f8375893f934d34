// A client that shows an answer as it came over HTTP/2: raw header lists, body bytes, trailers, reset code.

import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'

export interface RawAnswer {
  readonly headers: readonly string[]
  readonly headersEndStream: boolean
  readonly body: Buffer
  readonly trailers: readonly string[]
  readonly rstCode: number
}

export const frame = (message: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

export async function openSession(socketPath: string): Promise<ClientHttp2Session> {
  const socket = connectSocket(socketPath)
  await once(socket, 'connect')
  const session = connect('http://localhost', {
    createConnection: () => socket,
    settings: { initialWindowSize: 4 * 1024 * 1024, maxHeaderListSize: 256 * 1024 },
    maxSessionMemory: 512,
    // Node's own bounds are 128 fields in and 64 KiB out.
    maxHeaderListPairs: 4096,
    maxSendHeaderBlockLength: 256 * 1024,
  })
  session.on('error', () => {})
  await once(session, 'connect')
  session.setLocalWindowSize(16 * 1024 * 1024)
  return session
}

export const requestHeaders = (path: string, extra: OutgoingHttpHeaders = {}): OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': path,
  ':authority': 'localhost',
  'content-type': 'application/grpc',
  te: 'trailers',
  ...extra,
})

export function readRaw(stream: ClientHttp2Stream): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let headers: string[] = []
    let headersEndStream = false
    let trailers: string[] = []
    stream.on('response', (_h, flags: number, raw?: string[]) => {
      headers = raw ?? []
      headersEndStream = (flags & 1) !== 0
    })
    stream.on('trailers', (_h, _flags: number, raw?: string[]) => {
      trailers = raw ?? []
    })
    stream.on('data', (c: Buffer) => parts.push(c))
    stream.on('error', () => {})
    stream.once('close', () =>
      resolve({ headers, headersEndStream, body: Buffer.concat(parts), trailers, rstCode: stream.rstCode }),
    )
  })
}

export async function rawCall(
  session: ClientHttp2Session,
  path: string,
  body: Uint8Array,
  extra: OutgoingHttpHeaders = {},
): Promise<RawAnswer> {
  const stream = session.request(requestHeaders(path, extra))
  stream.end(body)
  return await readRaw(stream)
}

/** `date` differs by the second and is not sent by Go's servers. */
export const withoutDate = (a: RawAnswer): RawAnswer => ({
  ...a,
  headers: a.headers.filter((_, i, all) => all[i - (i % 2)] !== 'date'),
})

export const statusIn = (answer: RawAnswer): string | undefined => {
  const list = answer.trailers.length > 0 ? answer.trailers : answer.headers
  return list[list.indexOf('grpc-status') + 1]
}
