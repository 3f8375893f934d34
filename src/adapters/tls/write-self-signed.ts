// The certificate that a server of ours signs for itself: P-256, for servers only, no authority. Loaded when one is written.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import * as x509 from '@peculiar/asn1-x509'
import {
  extension,
  hostNames,
  nameOf,
  publicKeyInfo,
  signatureAlgorithm,
  signatureOf,
  toBytes,
  toPem,
} from './asn1.js'

export interface ServingPair {
  readonly certificate: string
  readonly key: string
}

export function writeSelfSigned(
  commonName: string,
  hosts: readonly string[],
  lifetimeMs: number,
): ServingPair {
  const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const nowMs = Date.now()
  const subject = nameOf([['CN', commonName]])
  const tbsCertificate = new x509.TBSCertificate({
    version: x509.Version.v3,
    // The first bit stays 0: serial numbers are positive.
    serialNumber: toBytes(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    signature: signatureAlgorithm(key),
    issuer: subject,
    subject,
    validity: new x509.Validity({
      notBefore: new Date(nowMs - 3_600_000), // clients whose clock is behind
      notAfter: new Date(nowMs + lifetimeMs),
    }),
    subjectPublicKeyInfo: publicKeyInfo(key),
    extensions: new x509.Extensions([
      extension(x509.id_ce_basicConstraints, new x509.BasicConstraints(), { critical: true }),
      extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature), {
        critical: true,
      }),
      extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth])),
      hostNames(hosts),
    ]),
  })
  const certificate = new x509.Certificate({
    tbsCertificate,
    signatureAlgorithm: signatureAlgorithm(key),
    signatureValue: signatureOf(tbsCertificate, key),
  })
  return {
    certificate: toPem('CERTIFICATE', certificate),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
