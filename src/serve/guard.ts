// The gate in front of every endpoint: finds out who asks and whether they may, or gives the refusal to send.
import type { HttpRequest, HttpResponse } from '../ports/http.js'
import { type AccessRules, decideAccess } from './access.js'
import { type Authenticator, anonymousUser, type Credentials, type User } from './authn/authenticator.js'
import { readCredentials } from './authn/credentials.js'
import type { Authorizer } from './authz/authorizer.js'
import { type HostRule, hostProblem, isFromBrowser, isRelayed, originProblem } from './browser.js'
import { failure } from './failures.js'
import type { Target } from './target.js'

type Passage =
  | { readonly kind: 'pass'; readonly user: User; readonly credentials: Credentials }
  | {
      readonly kind: 'refuse'
      readonly response: HttpResponse
      /** For the log, never for the caller. */
      readonly reason: string
      readonly user?: User
    }

export type Guard = (request: HttpRequest, target: Target, open: boolean) => Promise<Passage>

const refuse = (response: HttpResponse, reason: string, user?: User): Passage => ({
  kind: 'refuse',
  response,
  reason,
  ...(user === undefined ? {} : { user }),
})

/** For the health and the read-only port: everyone is let in, through the right door. */
export const openGuard = (isOurHost: HostRule): Guard =>
  function openGuard(request) {
    const problem = hostProblem(request, isOurHost)
    if (problem !== undefined)
      return Promise.resolve(refuse(failure(request, 403, `Forbidden: ${problem}`, { close: true }), problem))
    return Promise.resolve({ kind: 'pass', user: anonymousUser, credentials: {} })
  }

interface GuardOptions {
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly rules: AccessRules
  readonly isOurHost: HostRule
  readonly cookieName: () => string
}

export function createGuard(o: GuardOptions): Guard {
  async function check(request: HttpRequest, target: Target, open: boolean): Promise<Passage> {
    const unauthorized = (reason: string): Passage =>
      refuse(failure(request, 401, 'Unauthorized', { close: true }), reason)
    const forbidden = (text: string, reason: string, user?: User): Passage =>
      refuse(failure(request, 403, text, { close: user === undefined }), reason, user)

    const read = readCredentials(request, o.cookieName())
    if (read.kind === 'refused') return unauthorized(read.reason)
    const { credentials } = read
    if (open || credentials.session !== undefined) {
      const problem = hostProblem(request, o.isOurHost) ?? (open ? undefined : originProblem(request))
      if (problem !== undefined) return forbidden(`Forbidden: ${problem}`, problem)
    }
    if (open) return { kind: 'pass', user: anonymousUser, credentials }
    const verdict = await o.authenticator.authenticate(credentials, request.signal)
    if (verdict.kind === 'absent') return unauthorized('no credential')
    if (verdict.kind === 'refused') return unauthorized(verdict.reason)
    const { user } = verdict
    // A browser shows a client certificate to every page's requests, as it does a cookie.
    if (user.by === 'x509' && isFromBrowser(request) && !isRelayed(request)) {
      const problem = hostProblem(request, o.isOurHost) ?? originProblem(request)
      if (problem !== undefined) return forbidden(`Forbidden: ${problem}`, problem)
    }
    const access = decideAccess(request.method, target.segments, o.rules)
    const permission = await o.authorizer.authorize(user, access, request.signal)
    if (permission.kind === 'allowed') return { kind: 'pass', user, credentials }
    if (permission.kind === 'failed') {
      const text = `Authorization error (user=${user.name}, verb=${access.verb}, resource=nodes, subresource(s)=[${access.subresources.join(' ')}])`
      return refuse(failure(request, 500, text, { close: true }), permission.reason, user)
    }
    const text = `Forbidden (user=${user.name}, verb=${access.verb}, resource=nodes, subresource(s)=[${access.subresources.join(' ')}])`
    return forbidden(text, permission.reason === '' ? 'not permitted' : permission.reason, user)
  }

  return check
}
