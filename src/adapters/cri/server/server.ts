// The CRI server's socket: HTTP/2 from any number of clients, each call handed to the chain with the runtime's
// connection. The chain decides what is done with a call.
import { createServer, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import { keelsonError } from '../../../core/errors.js'
import type { CallEnding, CallHandler, RawMetadata, ServerCall } from '../../../ports/cri-calls.js'
import { keepSessionFor } from '../../http2/keep-session.js'
import { connectionWindowBytes, sessionMemoryMiB } from '../connection/connection.js'
import { parseEndpoint } from '../endpoint.js'
import { createUpstream, type OnReach, type Upstream } from '../upstream/upstream.js'
import { Http2Call } from './call.js'
import { defaultLivenessMs, endWhenDead, maxConcurrentStreams, replaceInTime } from './session-health.js'
import { listenOnSocket } from './socket.js'

interface CriServerOptions {
  /** `unix:///run/keelson/cri.sock` */
  readonly listen: string
  readonly upstream: string
  /** Where images have a service of their own. */
  readonly imageUpstream?: string
  readonly handle: CallHandler
  /** The handler threw: its call was refused, everything else goes on. */
  readonly onError: (e: unknown, call: ServerCall) => void
  /** Calls by this path end only with their caller: a shutdown does not wait for them. */
  readonly isEndless?: (path: string) => boolean
  /** The runtime became unreachable, or reachable again; noticed by a call. */
  readonly onReach?: OnReach
  /** A client must speak HTTP/2 within this time. Default 10,000. */
  readonly greetingMs?: number
  /** How often clients are pinged, and how long a runtime that does not answer has for its ping. Default 30,000. */
  readonly livenessMs?: number
}

interface CriServer {
  readonly endpoint: string
  readonly socketPath: string
  /** Clients connected, calls in progress, connections to the runtime. */
  readonly counts: { readonly clients: number; readonly calls: number; readonly upstream: number }
  /** Accepts no more calls, lets those in progress end for `graceMs`, then aborts them. */
  close(graceMs?: number): Promise<void>
}

/** Requests are small; an upload beyond this waits for its reader. */
const requestWindowBytes = 256 * 1024
/** Of metadata. Node's own bounds, 64 KiB and 128 fields, are below what clients send; nghttp2 ends at 144 KiB. */
const requestFieldsBytes = 128 * 1024
const requestFields = 4096
const answerFieldsBytes = 1024 * 1024
/** Time for the last frames to be written. */
const lingerMs = 1000

function endSoon(socket: Socket): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

const shuttingDown = { code: grpcCode.unavailable, message: 'keelson: the server is shutting down; retry' }

const imageService = /^\/runtime\.v1[a-z0-9]*\.ImageService\//

export async function startCriServer(o: CriServerOptions): Promise<CriServer> {
  const at = parseEndpoint(o.listen)
  // Its socket is a file with an owner and a mode; a pipe would need an access list, which Node cannot set.
  if (at.canonical.startsWith('npipe:'))
    throw keelsonError(
      'server.listen',
      `listen on ${at.socketPath}: a CRI server listens on unix sockets only`,
    )
  const livenessMs = o.livenessMs ?? defaultLivenessMs
  const upstreamAt = (endpoint: string): Upstream =>
    createUpstream(parseEndpoint(endpoint).socketPath, livenessMs, o.onReach)
  const runtime = upstreamAt(o.upstream)
  const images = o.imageUpstream === undefined ? runtime : upstreamAt(o.imageUpstream)
  const sessions = new Set<Http2Session>()
  const sockets = new Set<Socket>()
  const calls = new Map<Promise<unknown>, ServerCall>()

  const server = createServer({
    settings: {
      initialWindowSize: requestWindowBytes,
      maxConcurrentStreams,
      maxHeaderListSize: requestFieldsBytes,
    },
    maxSessionMemory: sessionMemoryMiB,
    maxHeaderListPairs: requestFields,
    maxSendHeaderBlockLength: answerFieldsBytes,
  })
  let newest: Socket | undefined
  // Before Node's own listener, which makes the session of this socket at once: so the two can be paired.
  server.prependListener('connection', (socket: Socket) => {
    newest = socket
    sockets.add(socket)
    socket.on('error', () => {})
    // Node leaves a socket half open after its client has closed its side, and never closes it.
    socket.once('end', () => endSoon(socket))
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    sessions.add(session)
    const socket = newest
    session.setLocalWindowSize(connectionWindowBytes)
    const greeting = setTimeout(() => session.destroy(), o.greetingMs ?? 10_000)
    session.once('remoteSettings', () => clearTimeout(greeting))
    session.on('error', () => {})
    session.on('stream', (stream) => keepSessionFor(stream, session))
    session.once('close', () => {
      clearTimeout(greeting)
      sessions.delete(session)
      if (socket !== undefined) endSoon(socket)
    })
    replaceInTime(session)
    endWhenDead(session, livenessMs)
  })
  server.on('sessionError', () => {})
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw?: RawMetadata) => {
      const path = headers[':path'] ?? ''
      const upstream = imageService.test(path) ? images : runtime
      const call = new Http2Call({ stream, headers, flags, raw: raw ?? [], upstream })
      const inProgress: Promise<unknown> = serve(call, o).finally(() => calls.delete(inProgress))
      calls.set(inProgress, call)
    },
  )
  const file = await listenOnSocket(server, at.socketPath)

  return {
    endpoint: at.canonical,
    socketPath: at.socketPath,
    get counts() {
      return {
        clients: sockets.size,
        calls: calls.size,
        upstream: runtime.connections + (images === runtime ? 0 : images.connections),
      }
    },
    async close(graceMs = 5000) {
      await file.remove()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const session of sessions) session.close()
      for (const call of calls.values()) if (o.isEndless?.(call.path) === true) void call.refuse(shuttingDown)
      await Promise.race([Promise.all(calls.keys()), sleep(graceMs, undefined, { ref: false })])
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
      runtime.close()
      images.close()
      await closed
    },
  }
}

async function serve(
  call: ServerCall,
  { handle, onError }: CriServerOptions,
): Promise<CallEnding | undefined> {
  try {
    return await handle(call)
  } catch (e) {
    onError(e, call)
    return await call.fail(e)
  }
}
