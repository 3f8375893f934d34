// The token in the root-owned file of this machine: only root can read it. Only without an API server.
import type { LocalToken, Secrets } from '../../ports/secrets.js'
import { type Authenticator, absent, knownUser, refused } from './authenticator.js'

/** `others`: what is said of a token that is not the local one. */
export const localToken = (
  token: LocalToken,
  secrets: Pick<Secrets, 'equal'>,
  others: 'refused' | 'ignored' = 'refused',
): Authenticator => ({
  name: 'local-token',
  authenticate({ bearer }) {
    if (bearer === undefined) return absent
    const expected = token.current()
    if (expected === undefined || !secrets.equal(bearer, expected))
      return others === 'ignored' ? absent : refused('the token is not the local one')
    return knownUser('local-token', { name: 'keelson:local', groups: [], extra: {} })
  },
})
