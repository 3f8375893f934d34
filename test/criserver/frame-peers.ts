// A client and a runtime at the level of frames, for what no HTTP/2 library of a test would send or show.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  fieldBlock,
  flag,
  frameOf,
  frameType,
  headerFrames,
  numberFrame,
  onFrames,
  preface,
  settingsFrame,
} from './frames.js'

/** What is said on one connection. `id`: the stream of the call. */
export interface Conversation {
  /** Before anything else; by default empty SETTINGS. */
  greet?(socket: Socket): void
  /** The headers of a call are there. */
  begun?(id: number, socket: Socket): void
  /** Its request is whole. */
  whole?(id: number, socket: Socket): void
}

export interface FrameRuntime {
  readonly endpoint: string
  /** What came: `DATA 8`, `END`, `RESET 8`. Of all streams. */
  readonly seen: readonly string[]
  /** Connections so far. */
  readonly accepted: number
  close(): Promise<void>
}

/** An answer of headers, nothing between, and these trailers. */
export const answerFrames = (id: number, ...trailers: readonly string[]): Buffer =>
  Buffer.concat([
    headerFrames(id, fieldBlock(':status', '200', 'content-type', 'application/grpc'), false),
    headerFrames(id, fieldBlock(...trailers), true),
  ])

/** `next`: how the nth connection goes, from 0. */
export async function startFrameRuntime(next: (nth: number) => Conversation): Promise<FrameRuntime> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-frames-'))
  const path = join(dir, 'up.sock')
  const seen: string[] = []
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    const conversation = next(accepted++)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    if (conversation.greet === undefined) socket.write(settingsFrame())
    else conversation.greet(socket)
    onFrames(socket, preface.length, ({ type, flags, stream, payload }) => {
      const isLast = (flags & flag.endStream) !== 0
      if (type === frameType.settings && (flags & flag.ack) === 0)
        socket.write(frameOf(frameType.settings, flag.ack, 0))
      if (type === frameType.headers) conversation.begun?.(stream, socket)
      if (type === frameType.data) seen.push(`DATA ${payload.length}`)
      if (type === frameType.reset) seen.push(`RESET ${payload.readUInt32BE(0)}`)
      if ((type !== frameType.data && type !== frameType.headers) || !isLast) return
      seen.push('END')
      conversation.whole?.(stream, socket)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    endpoint: `unix://${path}`,
    seen,
    get accepted() {
      return accepted
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface HalfSent {
  write(bytes: Uint8Array): void
  /** A reset without the end of the request, which Node's client would send first. */
  cancel(): void
  close(): void
}

/** A call whose request does not end. */
export async function beginCall(socketPath: string, path: string): Promise<HalfSent> {
  const socket = connect(socketPath)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  const head = [':method', 'POST', ':scheme', 'http', ':path', path, ':authority', 'localhost']
  const block = fieldBlock(...head, 'content-type', 'application/grpc', 'te', 'trailers')
  socket.write(Buffer.concat([preface, settingsFrame(), headerFrames(1, block, false)]))
  return {
    write: (bytes) => void socket.write(frameOf(frameType.data, 0, 1, bytes)),
    cancel: () => void socket.write(numberFrame(frameType.reset, 1, 8)),
    close: () => void socket.destroy(),
  }
}
