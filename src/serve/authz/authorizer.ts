// May this user do this: the shape of the answer, and the two authorizers without an API server.

import type { Access } from '../access.js'
import type { User } from '../authn/authenticator.js'

type Permission =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

export interface Authorizer {
  readonly name: string
  authorize(user: User, access: Access, signal: AbortSignal): Promise<Permission> | Permission
}

export const allowed: Permission = { kind: 'allowed' }

/** Only where the configuration says so in as many words. */
export const alwaysAllow: Authorizer = { name: 'AlwaysAllow', authorize: () => allowed }

/** Whose members need no rule that grants them anything, as in every cluster. */
export const adminGroup = 'system:masters'

/**
 * Without an API server: only the local token and administrators of the client CA have access. A CA
 * signs certificates for many purposes, so its signature alone opens no container.
 */
export const localOnly: Authorizer = {
  name: 'local',
  authorize: ({ by, groups }) =>
    by === 'local-token' || (by === 'x509' && groups.includes(adminGroup))
      ? allowed
      : {
          kind: 'denied',
          reason: `no API server is configured and the user is not in the group ${adminGroup}`,
        },
}
