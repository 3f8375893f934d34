// What certificates and requests for them are written with. Loaded only when one is written: at the first start, and once in many
// months.
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import * as x509 from '@peculiar/asn1-x509'
import { isAddress } from './is-address.js'

/** Of a view's own bytes: Node keeps short ones in a shared block. */
export const toBytes = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer

const attributes = { CN: '2.5.4.3', O: '2.5.4.10' } as const
type AttributeName = keyof typeof attributes

export const nameOf = (parts: readonly (readonly [AttributeName, string])[]) =>
  new x509.Name(
    parts.map(([name, utf8String]) => {
      const value = new x509.AttributeValue({ utf8String })
      return new x509.RelativeDistinguishedName([
        new x509.AttributeTypeAndValue({ type: attributes[name], value }),
      ])
    }),
  )

/** The values of one attribute, in their order. */
export const valuesOf = (name: AttributeName, subject: Iterable<Iterable<NamePart>>): string[] =>
  [...subject].flatMap((part) =>
    [...part].filter(({ type }) => type === attributes[name]).map(({ value }) => String(value)),
  )

interface NamePart {
  readonly type: string
  readonly value: { toString(): string }
}

export const publicKeyInfo = (key: KeyObject) => AsnConvert.parse(publicDer(key), x509.SubjectPublicKeyInfo)

export const publicDer = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ type: 'spki', format: 'der' })

export function extension(id: string, value: unknown, { critical = false } = {}) {
  const extnValue = new OctetString(AsnConvert.serialize(value))
  return new x509.Extension({ extnID: id, critical, extnValue })
}

/** The subject's alternative names. */
export function hostNames(hosts: readonly string[]) {
  const names = hosts.map(
    (host) => new x509.GeneralName(isAddress(host) ? { iPAddress: host } : { dNSName: host }),
  )
  return extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(names))
}

/** With SHA-256, for the two types of keys that nodes have. RSA's has a parameter, which is null. */
export const signatureAlgorithm = (key: KeyObject) =>
  key.asymmetricKeyType === 'rsa'
    ? new x509.AlgorithmIdentifier({ algorithm: '1.2.840.113549.1.1.11', parameters: null })
    : new x509.AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' })

export const signatureOf = (value: unknown, key: KeyObject): ArrayBuffer =>
  toBytes(sign('sha256', Buffer.from(AsnConvert.serialize(value)), key))

export function toPem(label: string, value: unknown): string {
  const lines =
    Buffer.from(AsnConvert.serialize(value))
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
