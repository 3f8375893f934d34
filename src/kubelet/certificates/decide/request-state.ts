// What has become of a request for a certificate.
import type { CertificateSigningRequest } from '../../../core/kube/objects.js'

type RequestState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'refused'; readonly why: string }

export function requestState({ status }: CertificateSigningRequest): RequestState {
  const conditions = (status?.conditions ?? []).filter((c) => c.status === undefined || c.status === 'True')
  const refused = conditions.find((c) => c.type === 'Denied' || c.type === 'Failed')
  if (refused !== undefined) {
    const words = [refused.reason, refused.message].filter((w) => w !== undefined && w !== '').join(': ')
    return {
      kind: 'refused',
      why: `${refused.type === 'Denied' ? 'denied' : 'failed'}${words === '' ? '' : ` (${words.slice(0, 300)})`}`,
    }
  }
  const isApproved = conditions.some((c) => c.type === 'Approved')
  const certificate = status?.certificate ?? ''
  return isApproved && certificate !== ''
    ? { kind: 'issued', certificate: decodeBase64(certificate) }
    : { kind: 'waiting' }
}

const decodeBase64 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))
