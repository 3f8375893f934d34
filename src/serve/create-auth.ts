// Builds the authenticators and the authorizer of a plan.
import type { Clock } from '../ports/clock.js'
import type { KubeCalls } from '../ports/kube-calls.js'
import type { LocalToken, Secrets } from '../ports/secrets.js'
import type { AuthPlan } from './auth-plan.js'
import type { Authenticator } from './authn/authenticator.js'
import { chain } from './authn/chain.js'
import { localToken } from './authn/local-token.js'
import { createSessions, type Sessions } from './authn/session.js'
import { tokenReview } from './authn/token-review.js'
import { x509 } from './authn/x509.js'
import { accessReview } from './authz/access-review.js'
import { type Authorizer, alwaysAllow, localOnly } from './authz/authorizer.js'
import type { ServeSettings } from './settings.js'

interface AuthParts {
  readonly settings: ServeSettings
  readonly clock: Clock
  readonly secrets: Secrets
  readonly random: () => number
  readonly api?: KubeCalls
  readonly localToken?: LocalToken
}

interface Auth {
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly sessions: Sessions
}

function createAuthenticator(
  kind: AuthPlan['authenticators'][number],
  plan: AuthPlan,
  o: AuthParts,
): Authenticator {
  switch (kind) {
    case 'x509':
      return x509
    case 'local-token':
      if (o.localToken === undefined) throw new Error('a local token is planned and none was handed in')
      return localToken(o.localToken, o.secrets, plan.ignoresUnknownTokens ? 'ignored' : 'refused')
    case 'token-review':
      if (o.api === undefined) throw new Error('token reviews are planned and no API server was handed in')
      return tokenReview({
        api: o.api,
        clock: o.clock,
        secrets: o.secrets,
        random: o.random,
        cacheTtlMs: o.settings.tokenReview.cacheTtlMs,
        timeoutMs: o.settings.reviewTimeoutMs,
        maxWaiting: o.settings.requests.maxWaiting,
      })
  }
}

function createAuthorizer(kind: AuthPlan['authorizer'], o: AuthParts): Authorizer {
  if (kind === 'AlwaysAllow') return alwaysAllow
  if (kind === 'local') return localOnly
  if (o.api === undefined) throw new Error('access reviews are planned and no API server was handed in')
  const { authorization, nodeName, requests, reviewTimeoutMs } = o.settings
  return accessReview({
    api: o.api,
    clock: o.clock,
    random: o.random,
    nodeName,
    allowTtlMs: authorization.allowTtlMs,
    denyTtlMs: authorization.denyTtlMs,
    timeoutMs: reviewTimeoutMs,
    maxWaiting: requests.maxWaiting,
  })
}

export function createAuth(plan: AuthPlan, o: AuthParts): Auth {
  const ways = plan.authenticators.map((kind) => createAuthenticator(kind, plan, o))
  const sessions = createSessions(o.clock, o.secrets, chain(ways, { ...plan, anonymous: false }))
  return {
    authenticator: chain([...ways, sessions], plan),
    authorizer: createAuthorizer(plan.authorizer, o),
    sessions,
  }
}
