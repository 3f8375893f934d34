// Requests for certificates (PKCS #10) with keys that are kept as PEM. Loaded when one is made: once in many months.
import { createPrivateKey, createPublicKey, verify } from 'node:crypto'
import { isIP } from 'node:net'
import * as csr from '@peculiar/asn1-csr'
import { AsnConvert } from '@peculiar/asn1-schema'
import * as x509 from '@peculiar/asn1-x509'
import type { Certificates } from '../../ports/certificates.js'
import {
  hostNames,
  nameOf,
  publicDer,
  publicKeyInfo,
  signatureAlgorithm,
  signatureOf,
  toPem,
  valuesOf,
} from '../tls/asn1.js'

/** The port waits for this file to be loaded. */
type Written<T extends 'createRequest' | 'isRequestOf'> = (
  ...args: Parameters<Certificates[T]>
) => Awaited<ReturnType<Certificates[T]>>

/** Of the attribute of a request that asks for extensions of the certificate: PKCS #9. */
const extensionRequest = '1.2.840.113549.1.9.14'

export const createRequest: Written<'createRequest'> = (key, { commonName, organizations }, names) => {
  const privateKey = createPrivateKey(key)
  const hosts = [...names.dnsNames, ...names.ips.filter((ip) => isIP(ip) !== 0)]
  const attributes = new csr.Attributes()
  if (hosts.length > 0) {
    const extensions = AsnConvert.serialize(new x509.Extensions([hostNames(hosts)]))
    attributes.push(new x509.Attribute({ type: extensionRequest, values: [extensions] }))
  }
  const certificationRequestInfo = new csr.CertificationRequestInfo({
    subject: nameOf([...organizations.map((o) => ['O', o] as const), ['CN', commonName]]),
    subjectPKInfo: publicKeyInfo(privateKey),
    attributes,
  })
  const request = new csr.CertificationRequest({
    certificationRequestInfo,
    signatureAlgorithm: signatureAlgorithm(privateKey),
    signature: signatureOf(certificationRequestInfo, privateKey),
  })
  return toPem('CERTIFICATE REQUEST', request)
}

const pemBody = /^-----BEGIN CERTIFICATE REQUEST-----$([^-]+)^-----END CERTIFICATE REQUEST-----$/m

export const isRequestOf: Written<'isRequestOf'> = (text, key, { commonName, organizations }) => {
  try {
    const der = Buffer.from(pemBody.exec(text)?.[1] ?? '', 'base64')
    const request = AsnConvert.parse(der, csr.CertificationRequest)
    const { certificationRequestInfo: info, certificationRequestInfoRaw: signed } = request
    return (
      signed !== undefined &&
      publicDer(createPrivateKey(key)).equals(Buffer.from(AsnConvert.serialize(info.subjectPKInfo))) &&
      verify('sha256', Buffer.from(signed), createPublicKey(key), Buffer.from(request.signature)) &&
      valuesOf('CN', info.subject).join('|') === commonName &&
      valuesOf('O', info.subject).join('|') === organizations.join('|')
    )
  } catch {
    return false
  }
}
