// Requests for certificates (PKCS #10) with keys that are kept as PEM. The library is loaded only when a request is made:
// once in many months.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
} from 'node:crypto'
import { isIP } from 'node:net'
import type { Certificates } from '../../ports/certificates.js'

async function loadX509() {
  await import('reflect-metadata') // @peculiar/x509 wants it loaded first
  // The bundler gives a CommonJS package to import() as its default export only.
  return (await import('@peculiar/x509')).default
}

const curves: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

function algorithmOf(key: KeyObject) {
  const hash = 'SHA-256'
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash }
  const namedCurve = curves[key.asymmetricKeyDetails?.namedCurve ?? '']
  return { name: 'ECDSA', namedCurve: namedCurve ?? 'P-256', hash }
}

async function webKeys(pem: string) {
  const key = createPrivateKey(pem)
  const algorithm = algorithmOf(key)
  const der = (k: KeyObject, type: 'pkcs8' | 'spki') => k.export({ type, format: 'der' })
  return {
    algorithm,
    keys: {
      privateKey: await webcrypto.subtle.importKey('pkcs8', der(key, 'pkcs8'), algorithm, false, ['sign']),
      publicKey: await webcrypto.subtle.importKey(
        'spki',
        der(createPublicKey(key), 'spki'),
        algorithm,
        true,
        ['verify'],
      ),
    },
  }
}

const publicDer = (key: string): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' })

export const createRequest: Certificates['createRequest'] = async (
  key,
  { commonName, organizations },
  names,
) => {
  const x509 = await loadX509()
  const { algorithm, keys } = await webKeys(key)
  const hosts = [
    ...names.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...names.ips.filter((ip) => isIP(ip) !== 0).map((value) => ({ type: 'ip' as const, value })),
  ]
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      name: [...organizations.map((o) => ({ O: [o] })), { CN: [commonName] }],
      keys,
      signingAlgorithm: algorithm,
      ...(hosts.length === 0 ? {} : { extensions: [new x509.SubjectAlternativeNameExtension(hosts)] }),
    },
    webcrypto as unknown as Parameters<typeof x509.Pkcs10CertificateRequestGenerator.create>[1],
  )
  return `${request.toString('pem')}\n`
}

export const isRequestOf: Certificates['isRequestOf'] = async (text, key, { commonName, organizations }) => {
  try {
    const x509 = await loadX509()
    const request = new x509.Pkcs10CertificateRequest(text)
    const field = (name: string): string[] => request.subjectName.getField(name)
    return (
      publicDer(key).equals(Buffer.from(request.publicKey.rawData)) &&
      (await request.verify(webcrypto as unknown as Parameters<typeof request.verify>[0])) &&
      field('CN').join('|') === commonName &&
      field('O').join('|') === organizations.join('|')
    )
  } catch {
    return false
  }
}

/** Each part is followed by a sign that its encoding does not have, so that no two requests share a name. */
export const requestName: Certificates['requestName'] = (key, { commonName, organizations }, usages) => {
  const hash = createHash('sha512-256')
  const parts = [
    publicDer(key),
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
