// A client and a runtime at the level of frames, for what no HTTP/2 library of a test would send or show.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RuntimeConnection } from '../../src/adapters/cri/h2-connection.js'
import {
  flag,
  frameType,
  headerFrames,
  newFrame,
  preface,
  settingsFrame,
} from '../../src/adapters/cri/h2-frames.js'
import { createFrameReader } from '../../src/adapters/cri/h2-reader.js'
import type { RuntimeStream } from '../../src/adapters/cri/h2-stream.js'
import { encodeFields } from '../../src/core/hpack/encode.js'
import type { RawMetadata } from '../../src/ports/cri-calls.js'
import { frame } from './raw-client.js'

export interface FrameRuntime {
  readonly endpoint: string
  /** What came: `DATA 8`, `END`, `RESET 8`. Of all streams. */
  readonly seen: readonly string[]
  close(): Promise<void>
}

/** Answers each call that is whole with these trailers, in as many frames as they need. */
export async function startFrameRuntime(trailers: RawMetadata): Promise<FrameRuntime> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-frames-'))
  const path = join(dir, 'up.sock')
  const seen: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const reader = createFrameReader({
      beginData: (_id, length) => void seen.push(`DATA ${length}`),
      data: () => {},
      endData(id, isLast) {
        if (!isLast) return
        seen.push('END')
        const head = encodeFields([':status', '200', 'content-type', 'application/grpc'])
        socket.write(Buffer.concat(headerFrames(id, head, false)))
        socket.write(Buffer.concat(headerFrames(id, encodeFields(trailers), true)))
      },
      frame(type, flags, _id, payload) {
        if (type === frameType.reset) seen.push(`RESET ${payload.readUInt32BE(0)}`)
        if (type === frameType.settings && (flags & flag.ack) === 0)
          socket.write(newFrame(0, frameType.settings, flag.ack, 0))
      },
    })
    let left = preface.length
    socket.write(settingsFrame([]))
    socket.on('data', (bytes) => {
      const greeting = Math.min(left, bytes.length)
      left -= greeting
      reader.push(bytes.subarray(greeting))
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    endpoint: `unix://${path}`,
    seen,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface FrameClient {
  /** The call without its body. */
  begin(
    path: string,
    metadata: RawMetadata,
  ): { readonly stream: RuntimeStream; readonly ended: Promise<Ended> }
  /** One empty message, whole. */
  call(path: string, metadata: RawMetadata): Promise<Ended>
  close(): void
}

/** The last fields of the answer, or how it broke. */
export type Ended = RawMetadata | { readonly broken: number | undefined }

export async function openFrameClient(socketPath: string): Promise<FrameClient> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  const connection = new RuntimeConnection(socket, {
    streamWindowBytes: 65_535,
    connectionWindowBytes: 1024 * 1024,
    onSettled: () => {},
    onGoaway: () => {},
    onClose: () => {},
  })
  socket.on('data', (bytes) => connection.read(bytes))
  const begin: FrameClient['begin'] = (path, metadata) => {
    const head = [':method', 'POST', ':scheme', 'http', ':path', path, ':authority', 'localhost']
    const fields = [...head, 'content-type', 'application/grpc', 'te', 'trailers', ...metadata]
    const stream = connection.request(fields, undefined, false, () => {})
    const ended = new Promise<Ended>((resolve) => {
      stream.attach({
        headers: (list, isLast) => void (isLast && resolve(list)),
        data: (portion) => stream.consumed(portion.size),
        end: resolve,
        broken: (code) => resolve({ broken: code }),
      })
    })
    return { stream, ended }
  }
  return {
    begin,
    call(path, metadata) {
      const { stream, ended } = begin(path, metadata)
      stream.end(frame(new Uint8Array()))
      return ended
    },
    close: () => connection.destroy(),
  }
}
