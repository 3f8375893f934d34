// What is asked of requests that a browser may have sent without its user's will: the right host name (no DNS
// rebinding) and our own page as the origin (no forged request from elsewhere).
import type { HttpRequest } from '../ports/http.js'

export type HostRule = (host: string) => boolean

const hostPattern = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/
const ipv4Pattern = /^\d{1,3}(\.\d{1,3}){3}$/

/** The owner of a DNS name can point it at this server; an address cannot be faked like that. */
export function hostRule(names: readonly string[]): HostRule {
  const known = new Set(['localhost', ...names.map((n) => n.toLowerCase())])
  return (host) => {
    const name = hostPattern.exec(host)?.[1]
    if (name === undefined) return false
    return name.startsWith('[') || ipv4Pattern.test(name) || known.has(name.toLowerCase().replace(/\.$/, ''))
  }
}

/** Undefined: fine. Otherwise why the request is refused. */
export function hostProblem(request: HttpRequest, isOurs: HostRule): string | undefined {
  const [host, ...more] = request.headers.get('host') ?? []
  if (host === undefined || more.length > 0) return 'exactly one Host header is required'
  return isOurs(host) ? undefined : 'the Host header names another server'
}

const reading = new Set(['GET', 'HEAD'])

/** A browser says where a request comes from; other clients have no reason to. */
export const isFromBrowser = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  headers.has('origin') || headers.has('sec-fetch-site')

/**
 * The API server passes the words of a client on when it opens a stream for it, and says for whom: that header cannot be set by a
 * page, least of all on a WebSocket.
 */
export const isRelayed = ({ headers, upgrade }: Pick<HttpRequest, 'headers' | 'upgrade'>): boolean =>
  upgrade && headers.has('x-forwarded-for')

/** For requests that a browser vouches for by itself: with a cookie, or with a client certificate that it holds. */
export function originProblem(request: HttpRequest): string | undefined {
  const [site] = request.headers.get('sec-fetch-site') ?? []
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'the request comes from another site'
  const origins = request.headers.get('origin') ?? []
  const [host] = request.headers.get('host') ?? []
  const ours = `https://${host ?? ''}`.toLowerCase()
  if (origins.some((o) => o.toLowerCase() !== ours)) return 'the request comes from another origin'
  const mustName = request.upgrade || !reading.has(request.method)
  return mustName && origins.length === 0 ? 'the Origin header is missing' : undefined
}
