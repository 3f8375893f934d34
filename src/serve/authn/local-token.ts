// The token in the root-owned file of this machine: whoever can read it is root already. Only without an API server.
import type { LocalToken, Secrets } from '../../ports/secrets.js'
import { type Authenticator, absent, knownUser, refused } from './authenticator.js'

export const localToken = (token: LocalToken, secrets: Pick<Secrets, 'equal'>): Authenticator => ({
  name: 'local-token',
  authenticate({ bearer }) {
    if (bearer === undefined) return absent
    const expected = token.current()
    if (expected === undefined || !secrets.equal(bearer, expected))
      return refused('the token is not the local one')
    return knownUser('local-token', { name: 'keelson:local', groups: [], extra: {} })
  },
})
