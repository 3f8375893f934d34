// What a certificate says, read with Node's own parser.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { CertificateFacts } from '../../ports/certificates.js'

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/

const valuesOf = (subject: string, attribute: string): string[] =>
  subject
    .split('\n')
    .filter((line) => line.startsWith(`${attribute}=`))
    .map((line) => line.slice(attribute.length + 1))

/** `DNS:node-1, IP Address:10.0.0.7` */
function namesOf(text: string | undefined): Pick<CertificateFacts, 'dnsNames' | 'ips'> {
  const entries = (text ?? '').split(', ')
  const of = (prefix: string): string[] =>
    entries.filter((e) => e.startsWith(prefix)).map((e) => e.slice(prefix.length))
  return { dnsNames: of('DNS:'), ips: of('IP Address:') }
}

/** Undefined: not a certificate, or not that of the key. */
export function describeCertificate(certificate: string, key: string): CertificateFacts | undefined {
  try {
    const block = pemBlock.exec(certificate)?.[0]
    if (block === undefined) return undefined
    const parsed = new X509Certificate(block)
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return undefined
    return {
      commonName: valuesOf(parsed.subject, 'CN')[0] ?? '',
      organizations: valuesOf(parsed.subject, 'O'),
      ...namesOf(parsed.subjectAltName),
      notBeforeMs: Date.parse(parsed.validFrom),
      notAfterMs: Date.parse(parsed.validTo),
    }
  } catch {
    return undefined
  }
}
