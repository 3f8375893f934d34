// An HTTP or HTTPS listener on node:http with every limit set: the edge between sockets and the handler in serve.
import { createServer as createHttp, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { keelsonError } from '../../core/errors.js'
import type { HttpHandler, HttpListener, Listen, ListenOptions } from '../../ports/http.js'
import { createTlsEdge, type TlsEdge } from '../tls/edge.js'
import { type Connection, type Connections, createConnections } from './connections.js'
import { send, toRequest } from './exchange.js'
import { answerMalformed } from './malformed.js'

interface Edge {
  readonly options: ListenOptions
  readonly handle: HttpHandler
  readonly connections: Connections
  readonly tls: TlsEdge | undefined
}

const isOwnSocket = (socket: Duplex): socket is Socket => 'remotePort' in socket

/** Runs one exchange to its end; the connection counts as busy from admission on. */
async function serve(
  edge: Edge,
  connection: Connection,
  req: IncomingMessage,
  res: ServerResponse,
  upgrade?: { readonly socket: Duplex; readonly head: Uint8Array },
): Promise<void> {
  const gone = new AbortController()
  const state = { admitted: false, timer: undefined as NodeJS.Timeout | undefined }
  connection.requests++
  const finished = new Promise<void>((resolve) => {
    const closing: Duplex | ServerResponse = upgrade?.socket ?? res
    closing.once('close', resolve)
    if (closing.destroyed) resolve()
  }).then(() => {
    clearTimeout(state.timer)
    gone.abort()
    connection.requests--
    if (state.admitted) edge.connections.release(connection)
  })
  const certificate = edge.tls?.certificateOf(req.socket, connection.generation)
  const request = toRequest(req, {
    peer: {
      address: req.socket.remoteAddress ?? '',
      ...(certificate === undefined ? {} : { certificate }),
    },
    upgrade: upgrade !== undefined,
    signal: gone.signal,
    finished,
    admit(timeoutMs) {
      if (state.admitted) return
      state.admitted = true
      edge.connections.admit(connection)
      state.timer = setTimeout(() => req.socket.destroy(), timeoutMs + 1000).unref()
    },
    beforeReading: () => {
      if (req.headers.expect !== undefined && !res.headersSent) res.writeContinue()
    },
  })
  const answer = await edge.handle(request)
  if (!('takeOver' in answer)) return send(answer, req, res)
  if (upgrade === undefined) throw new Error(`${req.url ?? ''}: a takeover was given for a plain request`)
  res.detachSocket(req.socket)
  await answer.takeOver(upgrade)
}

function listener(edge: Edge) {
  const cutOnError = (req: IncomingMessage) => () => req.socket.destroy()
  const run = (req: IncomingMessage, res: ServerResponse, head?: Buffer): void => {
    const connection = edge.connections.of(req.socket)
    if (connection === undefined) {
      req.socket.destroy()
      return
    }
    const upgrade = head === undefined ? undefined : { socket: req.socket, head }
    serve(edge, connection, req, res, upgrade).catch(cutOnError(req))
  }
  return {
    request: (req: IncomingMessage, res: ServerResponse) => run(req, res),
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
      if (!isOwnSocket(socket)) return void socket.destroy()
      socket.removeAllListeners('data')
      socket.on('error', () => socket.destroy())
      // An upgrade that is refused is answered like any request, and ends the connection.
      const res = new ServerResponse(req)
      res.shouldKeepAlive = false
      res.assignSocket(socket)
      res.once('finish', () => socket.destroySoon())
      run(req, res, head)
    },
  }
}

function createServer(edge: Edge): Server {
  const { limits } = edge.options
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: 0, // the handler's own limit runs from admission on
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: 1000,
    requireHostHeader: true,
    insecureHTTPParser: false,
    noDelay: true,
  }
  if (edge.tls === undefined) return createHttp(options)
  const server = createHttps({
    ...options,
    ...edge.tls.options(),
    handshakeTimeout: limits.handshakeTimeoutMs,
  })
  edge.tls.attach(server)
  return server
}

function wire(server: Server, edge: Edge): void {
  const { connections, tls, options } = edge
  const onRefused = options.onRefused ?? (() => undefined)
  const on = listener(edge)
  const count = (socket: Socket): void => {
    const connection = connections.of(socket)
    if (connection === undefined) return void socket.destroy()
    socket.on('data', (chunk: Buffer) => connections.received(connection, chunk.length))
  }
  server.prependListener('connection', (socket: Socket) => {
    // With TLS the wrapped socket reports its own errors; the raw one only has to survive them.
    socket.on('error', () => socket.destroy())
    connections.add(socket, tls?.generation() ?? 0)
  })
  if (tls === undefined) server.on('connection', count)
  else server.on('secureConnection', (socket: TLSSocket) => count(socket))
  server.on('tlsClientError', (_: Error, socket: TLSSocket) => {
    onRefused('handshake')
    socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
    onRefused(answerMalformed(error, socket)),
  )
  server.on('request', on.request)
  server.on('checkContinue', on.request)
  server.on('upgrade', on.upgrade)
  server.on('connect', (_: IncomingMessage, socket: Duplex) => void socket.destroy())
}

function openPort(server: Server, { address, port }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const todo =
        cause.code === 'EADDRINUSE' ? '; stop the process that uses it, or choose another port' : ''
      const text = `listen on ${address}:${port}: ${cause.message}${todo}`
      reject(keelsonError('server.listen', text, { address, port }, cause))
    })
    server.listen({ host: address, port, backlog: 1024 }, () => {
      const bound = server.address()
      if (bound === null || typeof bound === 'string') reject(new Error('no address after listening'))
      else resolve(bound)
    })
  })
}

const idleMs = 50

async function close(server: Server, { connections, tls }: Edge, graceMs: number): Promise<void> {
  tls?.close()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const c of [...connections.all()]) if (c.admitted === 0) c.raw.destroy()
  const timer = setTimeout(() => {
    for (const c of [...connections.all()]) c.raw.destroy()
  }, graceMs)
  // A connection whose last answer goes out now would stay for its keep-alive time, but is not used any more.
  const idle = setInterval(() => server.closeIdleConnections(), idleMs)
  await closed
  clearTimeout(timer)
  clearInterval(idle)
  connections.close()
}

export const listen: Listen = async (options, handle): Promise<HttpListener> => {
  const connections = createConnections(options.limits, options.onRefused ?? (() => undefined))
  const tls = options.tls === undefined ? undefined : createTlsEdge(options.tls)
  const edge: Edge = { options, handle, connections, tls }
  const server = createServer(edge)
  wire(server, edge)
  const bound = await openPort(server, options)
  return {
    address: bound.address,
    port: bound.port,
    get connections() {
      return connections.size
    },
    close: (graceMs) => close(server, edge, graceMs),
  }
}
