// What a node asks the cluster's signers for.
import type { NodeAddress } from '../../../core/kube/objects.js'
import type { HostNames, Subject } from '../../../ports/certificates.js'
import { ipFamily } from '../../node/decide/ip-address.js'

export type CertificateUse = 'client' | 'serving'

export const signerOf: Readonly<Record<CertificateUse, string>> = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
}

export const nodeSubject = (nodeName: string): Subject => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
})

/** Only RSA keys encipher other keys. The order is part of the name of a request. */
export const usagesOf = (use: CertificateUse, keyType: 'ec' | 'rsa' | 'other'): readonly string[] => [
  'digital signature',
  use === 'client' ? 'client auth' : 'server auth',
  ...(keyType === 'rsa' ? ['key encipherment'] : []),
]

export const noNames: HostNames = { dnsNames: [], ips: [] }

/** Names of the serving certificate; undefined: no address is known yet, so nothing is asked for. */
export function servingNames(addresses: readonly NodeAddress[]): HostNames | undefined {
  const ips = new Set<string>()
  const dnsNames = new Set<string>()
  for (const { type, address } of addresses) {
    if (address === '') continue
    if (ipFamily(address) !== undefined && /^(Hostname|InternalIP|ExternalIP)$/.test(type)) ips.add(address)
    else if (/^(Hostname|InternalDNS|ExternalDNS)$/.test(type)) dnsNames.add(address)
  }
  return ips.size === 0 ? undefined : { dnsNames: [...dnsNames].sort(), ips: [...ips].sort() }
}
