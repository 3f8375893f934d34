// Our side of HTTP/2 connected to Node's, which is nghttp2: what one of them gets wrong, the other refuses.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RuntimeConnection } from '../../src/adapters/cri/h2-connection.js'
import type { RuntimeStream } from '../../src/adapters/cri/h2-stream.js'
import type { RawMetadata } from '../../src/ports/cri-calls.js'

export const window = 1024 * 1024

export const fields = (path: string, ...more: string[]): string[] => [
  ...[':method', 'POST', ':scheme', 'http', ':path', path, ':authority', 'localhost', 'te', 'trailers'],
  ...['content-type', 'application/grpc', ...more],
]

export const field = (list: RawMetadata, name: string): string | undefined => list[list.indexOf(name) + 1]

export interface Seen {
  headers: RawMetadata
  sensitive: readonly string[]
  isHeadersOnly: boolean
  trailers: RawMetadata
  body: Buffer
  /** `whole`, `lost`, or the code of a reset. */
  ending: 'whole' | 'lost' | number
}

/** All that becomes of a call; `holds`: nothing is given back to the runtime. */
export function see(stream: RuntimeStream, holds = false): Promise<Seen> {
  const seen: Seen = {
    ...{ headers: [], sensitive: [], isHeadersOnly: false, trailers: [], ending: 'lost' },
    body: Buffer.alloc(0),
  }
  const parts: Buffer[] = []
  return new Promise((resolve) => {
    const end = (ending: Seen['ending']): void => resolve({ ...seen, ending, body: Buffer.concat(parts) })
    stream.attach({
      headers(list, isLast, sensitive) {
        Object.assign(seen, { headers: list, isHeadersOnly: isLast, sensitive })
        if (isLast) end('whole')
      },
      data(portion) {
        parts.push(portion.copy())
        if (!holds) stream.consumed(portion.size)
      },
      end(list) {
        seen.trailers = list
        end('whole')
      },
      broken: (code) => end(code ?? 'lost'),
    })
  })
}

export type Play = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: RawMetadata) => void

export interface H2Bed {
  /** Of the server. */
  readonly sessions: ReadonlySet<ServerHttp2Session>
  serve(play: Play, options?: ServerOptions): Promise<void>
  /** `cut`: the bytes come in pieces of this length. */
  dial(cut?: number): Promise<RuntimeConnection>
  close(): Promise<void>
}

export async function openH2Bed(): Promise<H2Bed> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-h2-'))
  const path = join(directory, 's')
  const sessions = new Set<ServerHttp2Session>()
  const open = new Set<RuntimeConnection>()
  let server: Http2Server | undefined
  return {
    sessions,
    async serve(play, options = {}) {
      server = createServer(options)
      server.on('session', (session) => sessions.add(session))
      server.on('sessionError', () => {})
      server.on('stream', (stream, headers, _flags, raw?: RawMetadata) => {
        stream.on('error', () => {})
        play(stream, headers, raw ?? [])
      })
      server.listen(path)
      await once(server, 'listening')
    },
    async dial(cut = Number.POSITIVE_INFINITY) {
      const socket = connect(path)
      await once(socket, 'connect')
      const connection = new RuntimeConnection(socket, {
        streamWindowBytes: window,
        connectionWindowBytes: 2 * window,
        onSettled: () => {},
        onGoaway: () => {},
        onClose: () => {},
      })
      socket.on('data', (bytes) => {
        for (let at = 0; at < bytes.length; at += cut) connection.read(bytes.subarray(at, at + cut))
      })
      open.add(connection)
      return connection
    },
    async close() {
      for (const one of open) one.destroy()
      for (const session of sessions) session.destroy()
      server?.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function ask(
  connection: RuntimeConnection,
  path: string,
  body?: Uint8Array,
  ...more: string[]
): Promise<Seen> {
  const stream = connection.request(fields(path, ...more), undefined, body === undefined, () => {})
  if (body !== undefined) stream.end(body)
  return see(stream)
}

/** Says back what it was told. */
export const echo: Play = (stream, _headers, raw) => {
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('end', () => {
    stream.once('wantTrailers', () =>
      stream.sendTrailers({ 'grpc-status': '0', 'x-raw': JSON.stringify(raw) }),
    )
    stream.respond({ ':status': 200, 'x-twice': ['a', 'b'] }, { waitForTrailers: true })
    stream.end(Buffer.concat(parts))
  })
}
