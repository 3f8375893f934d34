// Keys of a node, as PEM, and the name that a request for a certificate has because of its key.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { Certificates } from '../../ports/certificates.js'

/** Each part is followed by a sign that its encoding does not have, so that no two requests share a name. */
export const requestName: Certificates['requestName'] = (key, { commonName, organizations }, usages) => {
  const hash = createHash('sha512-256')
  const parts = [
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ...[commonName, ...organizations, ...usages].map((text) => Buffer.from(text)),
  ]
  for (const part of parts) hash.update(`${part.toString('base64url')}|`)
  return `node-csr-${hash.digest('base64url')}`
}

export const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    .privateKey.export({ type: 'sec1', format: 'pem' })
    .toString()

export function keyType(key: string): 'ec' | 'rsa' | 'other' {
  const type = createPrivateKey(key).asymmetricKeyType
  return type === 'ec' || type === 'rsa' ? type : 'other'
}
