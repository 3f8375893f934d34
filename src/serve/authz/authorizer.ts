// May this user do this: the shape of the answer, and the two authorizers that need nobody's help.

import type { Access } from '../access.js'
import type { User } from '../authn/authenticator.js'

export type Permission =
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

/** Without an API server: whoever proved to be of this machine or of its CA may do everything, nobody else anything. */
export const localOnly: Authorizer = {
  name: 'local',
  authorize: (user) =>
    user.by === 'x509' || user.by === 'local-token'
      ? allowed
      : { kind: 'denied', reason: 'there is no API server that could grant rights to this user' },
}
