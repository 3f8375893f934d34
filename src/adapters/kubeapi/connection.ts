// One request to the API server: connections that outlive it, bounds of time and size, and the answer as it came. What an
// answer means is call.ts; who we are is credentials.ts.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { keelsonError } from '../../core/errors.js'
import type { Credentials, Identity } from './credentials.js'
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
  send(request: ApiRequest): Promise<IncomingMessage>
  closeAll(): void
}

/** Below the time after which API servers and balancers close idle connections. */
const idleMs = 20_000
const maxFreeSockets = 8
const keepAlive = { keepAlive: true, maxFreeSockets, keepAliveMsecs: 15_000, timeout: idleMs }

interface Pool {
  readonly key: string
  readonly agent: HttpAgent
}

export function createConnection(access: ApiAccess, credentials: Credentials, userAgent: string): Connection {
  const { server, serverName, insecure } = access
  const base = server.pathname.replace(/\/$/, '')
  let pool: Pool | undefined
  const retired = new Set<HttpAgent>()

  /** A new certificate needs new connections; calls under way on the old ones may end in peace. */
  const agentFor = ({ connectionKey, secureContext }: Identity): HttpAgent => {
    if (pool?.key === connectionKey) return pool.agent
    if (pool !== undefined) retire(pool.agent)
    const name = serverName ?? server.hostname.replace(/^\[|\]$/g, '')
    const agent =
      secureContext === undefined
        ? new HttpAgent(keepAlive)
        : new HttpsAgent({
            ...keepAlive,
            secureContext,
            rejectUnauthorized: !insecure,
            ...(isIP(name) === 0 ? { servername: name } : {}),
          })
    pool = { key: connectionKey, agent }
    return agent
  }
  const retire = (agent: HttpAgent): void => {
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
    for (const old of retired) if (Object.keys(old.sockets).length === 0) retired.delete(old)
    retired.add(agent)
  }
  return {
    async send(r) {
      const identity = await credentials.read(r.signal)
      return exchange(r, {
        host: server.hostname.replace(/^\[|\]$/g, ''),
        port: server.port === '' ? (server.protocol === 'https:' ? 443 : 80) : Number(server.port),
        path: `${base}${r.path}`,
        isTls: identity.secureContext !== undefined,
        agent: agentFor(identity),
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(identity.authorization === undefined ? {} : { authorization: identity.authorization }),
          ...(r.body === undefined
            ? {}
            : {
                'content-type': r.contentType ?? 'application/json',
                'content-length': String(Buffer.byteLength(r.body)),
              }),
        },
      })
    },
    closeAll() {
      const agents = [...retired, ...(pool === undefined ? [] : [pool.agent])]
      retired.clear()
      pool = undefined
      for (const agent of agents) agent.destroy()
    },
  }
}

interface Wire {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly isTls: boolean
  readonly agent: HttpAgent
  readonly headers: Readonly<Record<string, string>>
}

/** Listeners and the timer are taken away again: signals live as long as the process. */
const exchange = (r: ApiRequest, { isTls, ...wire }: Wire): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    r.signal.throwIfAborted()
    const send = isTls ? requestHttps : requestHttp
    const outgoing = send({ ...wire, method: r.method })
    const late = setTimeout(() => outgoing.destroy(noAnswer(`no answer in ${r.timeoutMs} ms`)), r.timeoutMs)
    const onAbort = (): void => void outgoing.destroy(noAnswer('the caller gave up'))
    const settle = (): void => {
      clearTimeout(late)
      r.signal.removeEventListener('abort', onAbort)
    }
    r.signal.addEventListener('abort', onAbort, { once: true })
    outgoing
      .once('response', (answer) => {
        settle()
        resolve(answer)
      })
      .once('error', (cause) => {
        settle()
        reject(cause)
      })
      .end(r.body)
  })

const noAnswer = (why: string): Error => Object.assign(new Error(why), { code: 'ETIMEDOUT' })

/** Network failures that may be gone a moment later; a bad certificate is not one. */
const passingCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ERR_STREAM_PREMATURE_CLOSE',
])

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: '; nothing listens there: is the API server running, at this address and port?',
  ENOTFOUND: '; its name is not known to DNS',
  EAI_AGAIN: '; DNS does not answer',
  CERT_HAS_EXPIRED: '; its certificate has expired: renew it, and check the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID:
    '; its certificate is for another name: correct the server, or set tls-server-name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: '; its certificate is not signed by certificate-authority',
  SELF_SIGNED_CERT_IN_CHAIN: '; its certificate is not signed by certificate-authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: '; its certificate is self-signed: put it into certificate-authority',
}

export function unreachable(doing: string, server: string, cause: unknown) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why = cause instanceof Error ? cause.message : String(cause)
  return keelsonError(
    'kubeapi.failed',
    `${doing}: the API server at ${server} is unreachable: ${why}${remedies[code] ?? ''}`,
    { passing: passingCodes.has(code), networkCode: code },
    cause,
  )
}
