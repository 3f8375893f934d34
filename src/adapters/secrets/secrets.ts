// Randomness and digests from node:crypto. The digest's key lives as long as the process: what leaks from a map of
// digests is of no use anywhere else.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../ports/secrets.js'

export function createSecrets(): Secrets {
  const key = randomBytes(32)
  const digest = (secret: string): Buffer => createHmac('sha256', key).update(secret).digest()
  return {
    random: () => randomBytes(32).toString('base64url'),
    digest: (secret) => digest(secret).toString('base64url'),
    equal: (a, b) => timingSafeEqual(digest(a), digest(b)),
  }
}
