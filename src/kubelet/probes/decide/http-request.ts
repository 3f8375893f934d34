// The request of an httpGet probe or hook, what its answer means, and which redirects are followed: those to the same host.
import type { HttpGet, Port } from '../../../core/pod/spec/handlers.js'
import type { ContainerPort } from '../../../core/pod/spec/spec.js'
import type { GetAnswer, GetRequest } from '../../../ports/network/probe-calls.js'
import type { ProbeOutcome } from './outcome.js'

/** A number, or in words why there is none. */
export function resolvePort(port: Port, ports: readonly ContainerPort[]): number | string {
  if (typeof port === 'number') return port
  return ports.find(({ name }) => name === port)?.containerPort ?? `port "${port}" not found`
}

export function getRequest(
  get: HttpGet,
  ports: readonly ContainerPort[],
  podIP: string,
  userAgent: string,
): GetRequest | string {
  const port = resolvePort(get.port, ports)
  if (typeof port === 'string') return port
  return {
    host: get.host ?? podIP,
    port,
    tls: get.scheme === 'HTTPS',
    path: escapePath(get.path),
    headers: requestHeaders(get.headers, userAgent),
  }
}

/** A header of the manifest replaces ours of the same name; an empty Accept is left out. */
function requestHeaders(given: HttpGet['headers'], userAgent: string): readonly string[] {
  const names = new Set(given.map(({ name }) => name.toLowerCase()))
  const own = [
    ['User-Agent', userAgent],
    ['Accept', '*/*'],
  ].filter(([name = '']) => !names.has(name.toLowerCase()))
  return [
    ...own.flat(),
    ...given
      .filter(({ name, value }) => value !== '' || name.toLowerCase() !== 'accept')
      .flatMap(({ name, value }) => [name, printable(value)]),
  ]
}

/** What HTTP does not allow in a value. */
const printable = (value: string): string => value.replace(/[^\t\x20-\x7e]/gu, ' ')

/** Half a character is none. */
const escapeOne = (c: string): string => encodeURIComponent(/^[\ud800-\udfff]$/.test(c) ? '\ufffd' : c)

/** Without the fragment, and with what a request line cannot have escaped. */
function escapePath(text: string): string {
  const [path = ''] = text.split('#')
  const escaped = path.replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, escapeOne)
  return escaped.startsWith('/') ? escaped : `/${escaped}`
}

const maxRedirects = 10
const followed = new Set([301, 302, 303, 307, 308])

/** The next request after this answer; a text: it cannot be followed; undefined: the answer is the last one. */
export function nextRequest(
  first: GetRequest,
  request: GetRequest,
  answer: GetAnswer,
  redirects: number,
): GetRequest | string | undefined {
  if (answer.kind !== 'answer' || !followed.has(answer.status) || answer.location === undefined)
    return undefined
  const base = `${request.tls ? 'https' : 'http'}://${urlHost(request.host)}:${request.port}${request.path}`
  if (!URL.canParse(answer.location, base)) return 'failed to parse Location header'
  const url = new URL(answer.location, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `unsupported protocol scheme "${url.protocol.slice(0, -1)}"`
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host !== first.host.toLowerCase()) return undefined
  if (redirects >= maxRedirects) return `stopped after ${maxRedirects} redirects`
  const tls = url.protocol === 'https:'
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return { ...request, tls, port, path: `${url.pathname}${url.search}` }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** 200 to 399 is well; the body is not told on failure, because it may hold what only the container should know. */
export function outcomeOfGet(answer: GetAnswer): ProbeOutcome {
  if (answer.kind === 'failed') return { kind: 'failure', output: answer.message }
  if (answer.kind === 'cut-off') return { kind: 'error', message: answer.message }
  const { status, body } = answer
  if (status < 200 || status >= 400)
    return { kind: 'failure', output: `HTTP probe failed with statuscode: ${status}` }
  if (status >= 300) return { kind: 'warning', output: `Probe terminated redirects, Response body: ${body}` }
  return { kind: 'success' }
}
