// Who is asking: the shape of a user, of what they showed, and of one way to check it.
import type { PeerCertificate } from '../../ports/http.js'
import type { ReviewedUser } from '../../ports/kube-calls.js'

export type AuthenticatedBy = 'x509' | 'token-review' | 'local-token' | 'anonymous'

export interface User extends ReviewedUser {
  readonly by: AuthenticatedBy
}

/** What a request showed. Each is looked at by the authenticator that knows it. */
export interface Credentials {
  readonly certificate?: PeerCertificate
  readonly bearer?: string
  /** The value of our session cookie. */
  readonly session?: string
  /** Where it came from: for fairness among those who wait, never as a proof. */
  readonly address?: string
}

export type Verdict =
  | { readonly kind: 'absent' }
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'refused'; readonly reason: string }

export interface Authenticator {
  readonly name: string
  authenticate(credentials: Credentials, signal: AbortSignal): Promise<Verdict> | Verdict
}

export const absent: Verdict = { kind: 'absent' }
export const refused = (reason: string): Verdict => ({ kind: 'refused', reason })

const authenticatedGroup = 'system:authenticated'

export const knownUser = (by: AuthenticatedBy, user: ReviewedUser): Verdict => ({
  kind: 'user',
  user: {
    ...user,
    by,
    groups: user.groups.includes(authenticatedGroup) ? user.groups : [...user.groups, authenticatedGroup],
  },
})

export const anonymousUser: User = {
  name: 'system:anonymous',
  groups: ['system:unauthenticated'],
  extra: {},
  by: 'anonymous',
}
