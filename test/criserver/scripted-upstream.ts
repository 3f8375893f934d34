// An upstream below gRPC: each path is a function on the raw HTTP/2 stream, for answers that no gRPC library would give.
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerHttp2Stream } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSocketServer, type SocketServer } from '../../src/fakes/cri/socket-server.js'

export type Play = (
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
) => void | Promise<void>

export interface RawUpstream extends SocketServer {
  readonly socketPath: string
  readonly endpoint: string
  /** Streams that are open at this moment. */
  readonly streams: number
  /** Reset codes of streams that ended early. */
  readonly resets: readonly number[]
  close(): Promise<void>
}

export async function startRawUpstream(
  plays: Readonly<Record<string, Play>>,
  options: { readonly unread?: ReadonlySet<string> } = {},
): Promise<RawUpstream> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-upstream-'))
  const socketPath = join(dir, 'up.sock')
  let streams = 0
  const resets: number[] = []
  const server = createSocketServer(socketPath, 0o600, (stream, headers) => {
    streams += 1
    stream.on('error', () => {})
    stream.once('close', () => {
      streams -= 1
      if (stream.rstCode !== 0) resets.push(stream.rstCode)
    })
    const path = String(headers[':path'])
    const play = plays[path] ?? unknownMethod
    const run = async (): Promise<void> => {
      const parts: Buffer[] = []
      if (options.unread?.has(path) !== true) for await (const part of stream) parts.push(part as Buffer)
      await play(stream, headers, Buffer.concat(parts))
    }
    run().catch(() => {})
  })
  await server.start()
  return {
    start: server.start,
    stop: server.stop,
    cut: server.cut,
    cutAll: server.cutAll,
    get connections() {
      return server.connections
    },
    get streams() {
      return streams
    },
    resets,
    socketPath,
    endpoint: `unix://${socketPath}`,
    async close() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const unknownMethod: Play = (stream) => {
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '12',
      'grpc-message': 'unknown method',
    },
    { endStream: true },
  )
}

export const answerWith = (
  stream: ServerHttp2Stream,
  body: Uint8Array,
  trailers: Record<string, string | string[]> = { 'grpc-status': '0' },
  headers: Record<string, string | string[]> = {},
): void => {
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', ...headers },
    { waitForTrailers: true },
  )
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(body)
}
