// The CA bundle for client certificates, and the question whether it still vouches for a certificate whose chain was
// proven by OpenSSL under an earlier bundle.
import { X509Certificate } from 'node:crypto'
import { keelsonError } from '../../core/errors.js'

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const maxDepth = 8

export function parseBundle(pem: string, path: string): X509Certificate[] {
  try {
    const certificates = (pem.match(pemBlock) ?? []).map((block) => new X509Certificate(block))
    if (certificates.some((c) => c.ca)) return certificates
  } catch (cause) {
    throw keelsonError(
      'tls.invalid',
      `read CA bundle ${path}: a certificate in it is malformed`,
      { path },
      cause,
    )
  }
  throw keelsonError('tls.invalid', `read CA bundle ${path}: it has no CA certificate`, { path })
}

const isWithin = (certificate: X509Certificate, nowMs: number): boolean =>
  Date.parse(certificate.validFrom) <= nowMs && nowMs <= Date.parse(certificate.validTo)

/** Why the dates do not hold now. A connection may outlive its certificate. */
export function dateProblem(chain: readonly X509Certificate[], nowMs: number): string | undefined {
  return chain.every((c) => isWithin(c, nowMs)) ? undefined : 'expired or not yet valid'
}

const issued = (child: X509Certificate, parent: X509Certificate): boolean =>
  parent.ca && child.checkIssued(parent) && child.verify(parent.publicKey)

/** The certificate first, then what the client sent of its issuers. */
export function chainOf(leaf: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = []
  let next: X509Certificate | undefined = leaf
  while (
    next !== undefined &&
    chain.length < maxDepth &&
    !chain.some((c) => c.fingerprint256 === next?.fingerprint256)
  ) {
    chain.push(next)
    next = next.issuerCertificate
  }
  return chain
}

/** Whether the chain still reaches one of these CAs. Its signatures were checked before; this is for a new bundle. */
export function reaches(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  nowMs: number,
): boolean {
  return chain.some(
    (c, i) =>
      (i === 0 || issued(chain[i - 1] ?? c, c)) &&
      roots.some((root) => isWithin(root, nowMs) && issued(c, root)),
  )
}
