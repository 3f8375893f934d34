// Certificates for tests: CAs, intermediates and leaves with every flaw a client may bring.
import 'reflect-metadata'
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'

export interface Pair {
  readonly certificate: string
  readonly key: string
}

export interface Authority extends Pair {
  readonly issuer: x509.X509Certificate
  readonly keys: CryptoKeyPair
}

type CryptoKeyPair = webcrypto.CryptoKeyPair

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

export interface LeafOptions {
  readonly user: string
  readonly groups?: readonly string[]
  readonly fromMs?: number
  readonly untilMs?: number
  readonly usage?: 'client' | 'server'
  readonly hosts?: readonly string[]
}

async function issue(
  name: x509.JsonNameParams,
  extensions: x509.Extension[],
  dates: readonly [number, number],
  by?: Authority,
): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(12).toString('hex')}`,
    subject: new x509.Name(name).toString(),
    issuer: by?.issuer.subject ?? new x509.Name(name).toString(),
    notBefore: new Date(dates[0]),
    notAfter: new Date(dates[1]),
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    extensions,
  })
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  return {
    issuer: certificate,
    keys,
    certificate: `${certificate.toString('pem')}\n`,
    key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
      .export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  }
}

const caExtensions = (): x509.Extension[] => [
  new x509.BasicConstraintsExtension(true, undefined, true),
  new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
]

export const createAuthority = (name: string, by?: Authority): Promise<Authority> =>
  issue([{ CN: [name] }], caExtensions(), [Date.now() - dayMs, Date.now() + 365 * dayMs], by)

export async function createLeaf(by: Authority, o: LeafOptions): Promise<Authority> {
  const subject = [{ CN: [o.user] }, ...(o.groups ?? []).map((g) => ({ O: [g] }))]
  const purpose = o.usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth
  const names = (o.hosts ?? []).map((h) => ({
    type: isIP(h) === 0 ? ('dns' as const) : ('ip' as const),
    value: h,
  }))
  const extensions: x509.Extension[] = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([purpose]),
    ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
  ]
  const dates = [o.fromMs ?? Date.now() - dayMs, o.untilMs ?? Date.now() + dayMs] as const
  return issue(subject, extensions, dates, by)
}

/** A certificate for a request (PKCS #10), with its subject and names, from now on. */
export async function signRequest(by: Authority, request: string, days: number): Promise<string> {
  const csr = new x509.Pkcs10CertificateRequest(request)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(12).toString('hex')}`,
    subject: csr.subject,
    issuer: by.issuer.subject,
    notBefore: new Date(Date.now() - 1000),
    notAfter: new Date(Date.now() + days * dayMs),
    publicKey: csr.publicKey,
    signingKey: by.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [...csr.extensions],
  })
  return `${certificate.toString('pem')}\n`
}
