// What goes out on the runtime's connection: frames gathered for one write, and the bodies of requests as far as the runtime's
// windows and the socket allow.
import type { Socket } from 'node:net'
import {
  flag,
  frameHeaderBytes,
  frameType,
  initialWindowBytes,
  maxFrameBytes,
  maxWindowBytes,
  newFrame,
  ProtocolFault,
  resetCode,
} from './h2-frames.js'
import type { RuntimeStream } from './h2-stream.js'

/** Bodies wait while so much waits for the socket. */
const socketAheadBytes = 1024 * 1024
/** A peer that makes us answer and does not read. */
const mostUnreadBytes = 16 * 1024 * 1024
/** Smaller bodies are copied behind their frame's header; larger ones go as they are. */
const copyBytes = 4096
const empty = new Uint8Array()

export interface Sender {
  /** Goes out with the next `flush`, at the latest in the next turn of the loop. */
  send(...frames: readonly Uint8Array[]): void
  flush(): void
  /** Sends what may be sent of this call's request. */
  pump(stream: RuntimeStream): void
  /** The runtime allows so much more on the whole connection. */
  widen(bytes: number): void
  /** Windows have grown, or the socket has taken what waited. */
  pumpAll(): void
}

export function createSender(socket: Socket): Sender {
  let out: Uint8Array[] = []
  let outBytes = 0
  let isFlushSet = false
  let window = initialWindowBytes
  const blocked = new Set<RuntimeStream>()

  function flush(): void {
    if (out.length === 0) return
    const frames = out
    const bytes = outBytes
    out = []
    outBytes = 0
    if (socket.destroyed) return
    if (socket.writableLength > mostUnreadBytes) return void socket.destroy()
    if (frames.length === 1) socket.write(frames[0] ?? empty)
    else if (bytes <= maxFrameBytes) socket.write(Buffer.concat(frames, bytes))
    else {
      socket.cork()
      for (const frame of frames) socket.write(frame)
      socket.uncork()
    }
  }

  function send(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      out.push(frame)
      outBytes += frame.length
    }
    if (isFlushSet) return
    isFlushSet = true
    setImmediate(() => {
      isFlushSet = false
      flush()
    })
  }

  function sendData(stream: RuntimeStream, bytes: Uint8Array, isLast: boolean): void {
    const flags = isLast ? flag.endStream : 0
    window -= bytes.length
    stream.sendWindow -= bytes.length
    stream.isLocalEnded = isLast
    const isCopied = bytes.length <= copyBytes
    const frame = newFrame(isCopied ? bytes.length : 0, frameType.data, flags, stream.id)
    frame.writeUIntBE(bytes.length, 0, 3)
    if (isCopied) frame.set(bytes, frameHeaderBytes)
    if (isCopied) send(frame)
    else send(frame, bytes)
  }

  function pump(stream: RuntimeStream): void {
    while (stream.queued > 0) {
      const most = Math.min(maxFrameBytes, window, stream.sendWindow)
      if (most <= 0 || socket.writableLength + outBytes > socketAheadBytes) {
        blocked.add(stream)
        break
      }
      const { bytes, isLast } = stream.take(most)
      sendData(stream, bytes, isLast)
    }
    if (stream.isEndDue) sendData(stream, empty, true)
    stream.drained()
    if (stream.isLocalEnded) flush()
  }

  function pumpAll(): void {
    for (const stream of [...blocked]) {
      blocked.delete(stream)
      if (!stream.isOver) pump(stream)
    }
  }
  socket.on('drain', pumpAll)

  return {
    send,
    flush,
    pump,
    pumpAll,
    widen(bytes) {
      window += bytes
      if (window > maxWindowBytes) throw new ProtocolFault(resetCode.flowControl, 'the window is too large')
      pumpAll()
    },
  }
}
