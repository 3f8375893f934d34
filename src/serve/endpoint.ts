// The shape of one endpoint, and how a path finds its endpoint. A process serves the endpoints of one list.
import type { HttpAnswer, HttpRequest } from '../ports/http.js'
import type { User } from './authn/authenticator.js'

export interface EndpointContext {
  /** Parts of the path that the pattern names. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly user: User
  /** Aborted when the client has gone or the endpoint's time is over. */
  readonly signal: AbortSignal
  /** The whole body, at most `maxBodyBytes`. */
  readBody(): Promise<Uint8Array>
}

export interface Endpoint {
  /** Unique; also the `path` label of the request metrics. */
  readonly name: string
  /** `/stats/summary`, `/containerLogs/{namespace}/{pod}/{container}`, `/logs/{path...}`. */
  readonly path: string
  /** GET brings HEAD with it. */
  readonly methods: readonly string[]
  /** Also on the read-only port, which has no authentication. */
  readonly readOnly?: boolean
  /** Needs no user: it is how a user comes to be. Login only. */
  readonly open?: boolean
  /** Streams: its own concurrency limit, and hours instead of seconds. */
  readonly longRunning?: boolean
  readonly timeoutMs?: number
  readonly maxBodyBytes?: number
  handle(request: HttpRequest, context: EndpointContext): Promise<HttpAnswer> | HttpAnswer
}

export interface Match {
  readonly endpoint: Endpoint
  readonly params: Readonly<Record<string, string>>
}

interface Pattern {
  readonly endpoint: Endpoint
  readonly parts: readonly string[]
}

/** HEAD is what GET would answer, without the body: the adapter leaves that out. */
const methodsOf = ({ methods }: Endpoint): readonly string[] =>
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))

export const takesMethod = (endpoint: Endpoint, method: string): boolean =>
  methodsOf(endpoint).includes(method)

/** The `Allow` header of a refusal. */
export const allowedMethods = (endpoint: Endpoint): string => methodsOf(endpoint).join(', ')

export type Router = (segments: readonly string[], method: string) => Match | undefined

const isName = (part: string): boolean => part.startsWith('{')

function matchParts(parts: readonly string[], segments: readonly string[]): Match['params'] | undefined {
  const params: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    if (part.endsWith('...}')) {
      params[part.slice(1, -4)] = segments.slice(i).join('/')
      return params
    }
    const segment = segments[i]
    if (segment === undefined) return undefined
    if (isName(part)) params[part.slice(1, -1)] = segment
    else if (part !== segment) return undefined
  }
  return parts.length === segments.length ? params : undefined
}

/** Literal parts win over named ones: `/healthz/ping` before `/healthz/{check}`. */
export function createRouter(endpoints: readonly Endpoint[]): Router {
  const names = new Set<string>()
  for (const { name } of endpoints) {
    if (names.has(name)) throw new Error(`two endpoints are named ${name}`)
    names.add(name)
  }
  const patterns: Pattern[] = endpoints
    .map((endpoint) => ({ endpoint, parts: endpoint.path.split('/').filter((p) => p !== '') }))
    .sort((a, b) => a.parts.filter(isName).length - b.parts.filter(isName).length)
  return (segments, method) => {
    let other: Match | undefined
    for (const { endpoint, parts } of patterns) {
      const params = matchParts(parts, segments)
      if (params === undefined) continue
      if (takesMethod(endpoint, method)) return { endpoint, params }
      other ??= { endpoint, params }
    }
    return other
  }
}
