// A client certificate of the configured CA: CN is the user, each O a group. The chain was proven in the handshake;
// trust and dates are asked again here, because a connection may outlive both.
import { type Authenticator, absent, knownUser, refused } from './authenticator.js'

export const x509: Authenticator = {
  name: 'x509',
  authenticate({ certificate }) {
    if (certificate === undefined) return absent
    const reason = certificate.check()
    if (reason !== undefined) return refused(`client certificate: ${reason}`)
    const [name, ...others] = certificate.commonNames
    if (name === undefined || name === '') return refused('client certificate: no common name')
    // Readers disagree on which of several names counts.
    if (others.length > 0) return refused('client certificate: more than one common name')
    return knownUser('x509', { name, groups: certificate.organizations, extra: {} })
  },
}
