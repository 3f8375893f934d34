// An HTTP/2 server on a unix socket that can be cut, stopped and started again at the same path.
import { chmod } from 'node:fs/promises'
import { createServer, type Http2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

export interface SocketServer {
  start(): Promise<void>
  /** Every connection ends without goodbye and the path goes away, as when a runtime is killed. */
  stop(): Promise<void>
  /** Ends the connection that carries this stream. */
  cut(stream: ServerHttp2Stream): void
  cutAll(): void
  readonly connections: number
}

type OnStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => void

export function createSocketServer(path: string, mode: number, onStream: OnStream): SocketServer {
  let server: Http2Server | undefined
  const sockets = new Set<Socket>()
  const socketOf = new WeakMap<Http2Session, Socket>()
  const cutAll = (): void => {
    for (const s of sockets) s.destroy()
  }

  const listen = (): Http2Server => {
    const created = createServer({
      settings: { initialWindowSize: 4 * 1024 * 1024, maxConcurrentStreams: 10_000 },
      maxSessionMemory: 256,
    })
    let newest: Socket | undefined
    // Runs before Node's own listener, which makes the session of this socket at once: they can be paired.
    created.prependListener('connection', (socket: Socket) => {
      newest = socket
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    })
    created.on('session', (session) => {
      if (newest !== undefined) socketOf.set(session, newest)
      session.on('error', () => {})
    })
    created.on('sessionError', () => {})
    created.on('stream', onStream)
    return created
  }

  return {
    async start() {
      const created = listen()
      await new Promise<void>((resolve, reject) => {
        created.once('error', reject)
        created.listen(path, resolve)
      })
      await chmod(path, mode)
      server = created
    },
    async stop() {
      const stopping = server
      server = undefined
      cutAll()
      if (stopping === undefined) return
      await new Promise<void>((resolve) => stopping.close(() => resolve()))
    },
    cut(stream) {
      if (stream.session !== undefined) socketOf.get(stream.session)?.destroy()
    },
    cutAll,
    get connections() {
      return sockets.size
    },
  }
}
