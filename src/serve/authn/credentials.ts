// Finds what a request shows of its caller. Anything that looks like a credential and is not well formed is refused
// here, so that it can never pass for "no credential".
import type { HttpRequest } from '../../ports/http.js'
import type { Credentials } from './authenticator.js'

type ReadCredentials =
  | { readonly kind: 'read'; readonly credentials: Credentials }
  | { readonly kind: 'refused'; readonly reason: string }

const maxTokenLength = 16 * 1024
const bearerPattern = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
const sessionPattern = /^[A-Za-z0-9_-]{20,128}$/

/** Cookies are shared by all ports of a host: the port in the name keeps three processes apart. */
export const sessionCookieName = (port: number): string => `__Host-keelson-${port}`

/** Undefined: no such cookie. More than one of the name counts as malformed. */
function cookieValues(headers: readonly string[], name: string): string[] {
  return headers
    .flatMap((h) => h.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

export function readCredentials(request: HttpRequest, cookieName: string): ReadCredentials {
  const { address, certificate } = request.peer
  const shown = { address, ...(certificate === undefined ? {} : { certificate }) }
  const authorization = request.headers.get('authorization') ?? []
  const [header] = authorization
  if (header !== undefined) {
    if (authorization.length > 1) return { kind: 'refused', reason: 'more than one Authorization header' }
    if (header.length > maxTokenLength)
      return { kind: 'refused', reason: 'the Authorization header is too long' }
    const bearer = bearerPattern.exec(header.trim())?.[1]
    if (bearer === undefined)
      return { kind: 'refused', reason: 'the Authorization header is not a bearer token' }
    return { kind: 'read', credentials: { ...shown, bearer } }
  }
  const [session, ...more] = cookieValues(request.headers.get('cookie') ?? [], cookieName)
  if (session === undefined) return { kind: 'read', credentials: shown }
  if (more.length > 0 || !sessionPattern.test(session))
    return { kind: 'refused', reason: 'the session cookie is malformed' }
  return { kind: 'read', credentials: { ...shown, session } }
}
