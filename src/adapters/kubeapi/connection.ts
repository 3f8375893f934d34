// One request to the API server: the connection of who we are now, a bound of time, and the answer as it came. What an answer
// means is call.ts; who we are is credentials.ts.
import { isIP } from 'node:net'
import { type Answer, type Channel, type Endpoint, networkError } from './channel.js'
import type { Credentials, Identity } from './credentials.js'
import { createHttp1 } from './http1.js'
import { createHttp2, type Http2Channel } from './http2.js'
import type { ApiAccess } from './kubeconfig.js'

interface ApiRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body?: string
  readonly contentType?: string
  readonly signal: AbortSignal
  /** Until the head of the answer is there. */
  readonly timeoutMs: number
}

interface Connection {
  /** The body is the caller's to read or to destroy. */
  send(request: ApiRequest): Promise<Answer>
  closeAll(): void
}

/** The connections of one identity. */
interface Pool {
  readonly key: string
  readonly http1: Channel
  /** Undefined: plain HTTP, or a server without HTTP/2. */
  http2: Http2Channel | undefined
}

/** Calls over connections of the old certificate have ended by then; watches begin again with the new one. */
const retiredMs = 30_000

export function createConnection(access: ApiAccess, credentials: Credentials, userAgent: string): Connection {
  const { server, serverName, insecure } = access
  const base = server.pathname.replace(/\/$/, '')
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const name = serverName ?? host
  const isTls = server.protocol === 'https:'
  const port = server.port === '' ? (isTls ? 443 : 80) : Number(server.port)
  let pool: Pool | undefined

  const endpointOf = ({ secureContext }: Identity): Endpoint => ({
    origin: server.origin,
    host,
    port,
    tls:
      secureContext === undefined
        ? undefined
        : {
            secureContext,
            rejectUnauthorized: !insecure,
            ...(isIP(name) === 0 ? { servername: name } : {}),
          },
  })
  /** A new certificate needs new connections. */
  const poolFor = (identity: Identity): Pool => {
    if (pool?.key === identity.connectionKey) return pool
    if (pool !== undefined) retire(pool)
    const endpoint = endpointOf(identity)
    const { tls } = endpoint
    pool = {
      key: identity.connectionKey,
      http1: createHttp1(endpoint),
      http2: tls === undefined ? undefined : createHttp2({ ...endpoint, tls }),
    }
    return pool
  }
  return {
    send: (r) =>
      withDeadline(r, async (signal) => {
        const identity = await credentials.read(signal)
        const { body } = r
        const request = {
          method: r.method,
          path: `${base}${r.path}`,
          body,
          signal,
          headers: {
            accept: 'application/json',
            'user-agent': userAgent,
            ...(identity.authorization === undefined ? {} : { authorization: identity.authorization }),
            ...(body === undefined
              ? {}
              : {
                  'content-type': r.contentType ?? 'application/json',
                  'content-length': String(Buffer.byteLength(body)),
                }),
          },
        }
        const chosen = poolFor(identity)
        const answer = await chosen.http2?.send(request)
        if (answer !== undefined) return answer
        chosen.http2 = undefined
        return chosen.http1.send(request)
      }),
    closeAll() {
      const closing = pool
      pool = undefined
      closing?.http2?.destroy()
      closing?.http1.destroy()
    },
  }
}

function retire({ http1, http2 }: Pool): void {
  for (const channel of [http1, http2]) {
    channel?.retire()
    setTimeout(() => channel?.destroy(), retiredMs).unref()
  }
}

/** The work gets a signal of its own: the caller's may live as long as the process and must not collect listeners. */
async function withDeadline<T>(
  { signal, timeoutMs }: Pick<ApiRequest, 'signal' | 'timeoutMs'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const ending = new AbortController()
  const end = (why: string): void => ending.abort(networkError('ETIMEDOUT', why))
  const late = setTimeout(() => end(`no answer in ${timeoutMs} ms`), timeoutMs)
  const onAbort = (): void => end('the caller gave up')
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', onAbort)
  }
}
