// HTTP/2: every call and every watch of a node on one connection, and on a second one only when the server allows no more
// streams on the first. A node that watches 200 objects has one socket and one TLS state, not 200.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from 'node:http2'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { keepSessionFor } from '../http2/keep-session.js'
import { type Answer, type Channel, type Endpoint, networkError, type WireRequest } from './channel.js'

export interface Http2Channel extends Omit<Channel, 'send'> {
  /** Undefined: the server has no HTTP/2, and nothing was sent. */
  send(request: WireRequest): Promise<Answer | undefined>
}

/** A connection and how many of its streams are ours. */
interface Line {
  readonly session: ClientHttp2Session
  streams: number
}

/** Until the server has named its limits. */
const dialMs = 10_000
/** As Kubernetes' clients: a ping after 30 s without a byte, and 15 s for its answer. */
const defaultTickMs = 15_000
const pingAfterTicks = 2
/** How much the server may send ahead of one reader. Node gives the connection's window back on arrival. */
const streamWindowBytes = 256 * 1024
const connectionWindowBytes = 4 * 1024 * 1024
/** In MiB; beyond it Node refuses new streams. Node's 10 are passed by a few large lists. */
const sessionMemoryMiB = 256
/** The second time on a connection that has just been made. */
const triesWhenRefused = 2

export function createHttp2(
  endpoint: Endpoint & { readonly tls: object },
  tickMs = defaultTickMs,
): Http2Channel {
  const lines = new Set<Line>()
  const sockets = new Set<TLSSocket>()
  let dialling: Promise<Line | undefined> | undefined

  const dial = (): Promise<Line | undefined> =>
    new Promise((resolve, reject) => {
      const { host, port, tls } = endpoint
      const socket = connectTls({ host, port, ...tls, ALPNProtocols: ['h2', 'http/1.1'] })
      sockets.add(socket)
      const late = setTimeout(
        () => socket.destroy(networkError('ETIMEDOUT', `not connected in ${dialMs} ms`)),
        dialMs,
      )
      socket.setKeepAlive(true, defaultTickMs).setNoDelay(true)
      // Stays as long as the socket: nothing else listens once its session has ended.
      socket.on('error', reject)
      socket.once('close', () => {
        clearTimeout(late)
        sockets.delete(socket)
        reject(networkError('ECONNRESET', 'the connection was closed'))
      })
      socket.once('secureConnect', () => {
        if (socket.alpnProtocol !== 'h2') {
          resolve(undefined)
          return void socket.destroy()
        }
        const session = connectHttp2(endpoint.origin, {
          createConnection: () => socket,
          settings: { enablePush: false, initialWindowSize: streamWindowBytes },
          maxSessionMemory: sessionMemoryMiB,
        })
        const line = { session, streams: 0 }
        session.on('error', reject)
        session.once('close', () => lines.delete(line))
        // The limit of streams is among them.
        session.once('remoteSettings', () => {
          clearTimeout(late)
          session.setLocalWindowSize(connectionWindowBytes)
          session.unref()
          lines.add(line)
          watchHealth(line, socket, tickMs)
          resolve(line)
        })
      })
    })

  const freeLine = (): Line | undefined => {
    for (const line of lines) {
      const { session, streams } = line
      const most = session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY
      if (!session.closed && !session.destroyed && streams < most) return line
    }
    return undefined
  }

  /** Undefined: the server has no HTTP/2. A stream begins in the same moment, so that two callers do not take the last one. */
  const openStream = async (r: WireRequest): Promise<ClientHttp2Stream | undefined> => {
    const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH } = constants
    const aborted = new Promise<never>((_, reject) =>
      r.signal.addEventListener('abort', () => reject(r.signal.reason as Error), { once: true }),
    )
    aborted.catch(() => undefined)
    for (;;) {
      r.signal.throwIfAborted()
      const line = freeLine()
      if (line !== undefined) {
        const head = { ...r.headers, [HTTP2_HEADER_METHOD]: r.method, [HTTP2_HEADER_PATH]: r.path }
        const stream = line.session.request(head, { endStream: r.body === undefined })
        take(line, stream)
        return stream
      }
      dialling ??= dial().finally(() => {
        dialling = undefined
      })
      if ((await Promise.race([dialling, aborted])) === undefined) return undefined
    }
  }

  return {
    async send(r) {
      for (let tries = 1; ; tries++) {
        const stream = await openStream(r)
        if (stream === undefined) return undefined
        try {
          return await answerOf(stream, r)
        } catch (e) {
          // The server was closing the connection and has not looked at the call.
          const isUntouched = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
          if (!isUntouched || tries === triesWhenRefused) throw e
        }
      }
    },
    retire() {
      for (const { session } of lines) session.close()
    },
    destroy() {
      const why = networkError('ECONNRESET', 'the connection was closed')
      for (const { session } of lines) session.destroy(why)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A process may end while a connection is idle, not while a call is under way. */
function take(line: Line, stream: ClientHttp2Stream): void {
  keepSessionFor(stream, line.session)
  if (++line.streams === 1) line.session.ref()
  stream.once('close', () => {
    if (--line.streams === 0 && !line.session.destroyed) line.session.unref()
  })
}

const answerOf = (stream: ClientHttp2Stream, { body, signal }: WireRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => stream.destroy(signal.reason as Error), { once: true })
    stream
      .once('response', (headers) => resolve({ status: Number(headers[':status']), headers, body: stream }))
      // Stays: the connection may break before the caller reads.
      .on('error', reject)
      .once('close', () => reject(networkError('ECONNRESET', 'the stream was closed without an answer')))
    if (body !== undefined) stream.end(body)
  })

/** A connection can die without a word. An answered ping is bytes too, so silence after one is the end. */
function watchHealth(line: Line, socket: TLSSocket, tickMs: number): void {
  const { session } = line
  let seen = 0
  let silentTicks = 0
  const timer = setInterval(() => {
    silentTicks = socket.bytesRead === seen ? silentTicks + 1 : 0
    seen = socket.bytesRead
    if (silentTicks < pingAfterTicks) return
    if (line.streams === 0) session.close()
    else if (silentTicks === pingAfterTicks) session.ping(() => undefined)
    else session.destroy(networkError('ETIMEDOUT', 'the server does not answer pings'))
  }, tickMs)
  timer.unref()
  session.once('close', () => clearInterval(timer))
}
