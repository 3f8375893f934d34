// Which ways of authentication and which authorizer a process uses: a pure choice from its settings, and whether
// there is an API server to ask.
import type { AuthenticatedBy } from './authn/authenticator.js'
import { adminGroup } from './authz/authorizer.js'
import type { ServeSettings } from './settings.js'

export interface AuthPlan {
  /** In the order in which they are asked. */
  readonly authenticators: readonly Exclude<AuthenticatedBy, 'anonymous'>[]
  readonly anonymous: boolean
  /** A bearer token that is not known counts as none, as upstream where its webhook is off. */
  readonly ignoresUnknownTokens: boolean
  readonly authorizer: 'AlwaysAllow' | 'Webhook' | 'local'
  /** What the operator should hear at start. */
  readonly warnings: readonly string[]
}

type Facts = Pick<ServeSettings, 'clientCAFile' | 'anonymous' | 'tokenReview' | 'authorization'>

export function decideAuth(settings: Facts, hasApiServer: boolean): AuthPlan {
  const { anonymous, authorization, tokenReview } = settings
  const token = hasApiServer
    ? tokenReview.enabled
      ? (['token-review'] as const)
      : []
    : (['local-token'] as const)
  const authenticators = [...(settings.clientCAFile === undefined ? [] : (['x509'] as const)), ...token]
  const authorizer = authorization.mode === 'AlwaysAllow' ? 'AlwaysAllow' : hasApiServer ? 'Webhook' : 'local'
  const warnings = []
  if (anonymous && authorizer === 'AlwaysAllow')
    warnings.push('anonymous users may do everything, including exec: disable authentication.anonymous')
  else if (authorizer === 'AlwaysAllow')
    warnings.push('every authenticated user may do everything: authorization.mode is AlwaysAllow')
  if (authorizer === 'local')
    warnings.push(
      `authorization.mode is Webhook without an API server: only the local token and client certificates of the group ${adminGroup} have access; set --kubeconfig`,
    )
  if (authenticators.length === 0 && !anonymous)
    warnings.push(
      'no authentication method is available: set authentication.x509.clientCAFile or enable the webhook',
    )
  const ignoresUnknownTokens = anonymous && !tokenReview.enabled
  return { authenticators, anonymous, ignoresUnknownTokens, authorizer, warnings }
}
