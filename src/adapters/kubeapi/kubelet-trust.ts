// Whether a server is the kubelet of this node: it shows the very certificate that the node keeps on disk, or one that an authority
// made out for this node. A kubelet is asked on loopback, an address that its certificate does not name.
import { X509Certificate } from 'node:crypto'
import type { RequestOptions } from 'node:https'
import { checkServerIdentity } from 'node:tls'
import { keelsonError } from '../../core/errors.js'

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function parseCertificates(pem: string, path: string): readonly X509Certificate[] {
  const blocks = pem.match(pemBlock) ?? []
  if (blocks.length === 0)
    throw keelsonError('tls.invalid', `read certificates ${path}: no certificate in the file`, { path })
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch (cause) {
    throw keelsonError('tls.invalid', `read certificates ${path}: one of them is malformed`, { path }, cause)
  }
}

export interface TrustFile {
  readonly path: string
  readonly pem: string
}

export function kubeletTrust(
  files: readonly TrustFile[],
  nodeName: string | undefined,
): Pick<RequestOptions, 'ca' | 'checkServerIdentity'> {
  const own = new Set(
    files.flatMap(({ pem, path }) => parseCertificates(pem, path)).map((c) => c.fingerprint256),
  )
  return {
    ca: files.map(({ pem }) => pem),
    checkServerIdentity(host, certificate) {
      if (own.has(certificate.fingerprint256)) return undefined
      const problem = checkServerIdentity(host, certificate)
      if (problem === undefined || nodeName === undefined) return problem
      return checkServerIdentity(nodeName, certificate) === undefined ? undefined : problem
    },
  }
}

/** What to do about a certificate that was refused, by the code of the refusal. */
export const certificateRemedy = (code: string): string =>
  code === 'CERT_HAS_EXPIRED'
    ? '; to renew a self-signed one, remove kubelet.crt and kubelet.key and restart the kubelet'
    : '; name it or its CA with --kubelet-ca-file (self-signed, on kubeadm nodes: /var/lib/kubelet/pki/kubelet.crt); ' +
      '--kubelet-skip-verify turns verification off'
