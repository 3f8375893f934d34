// The addresses of the Node. The first that is usable counts: those that were given, the node's name if it is one, what DNS
// says about the name, the address on the interface of the default route.
import type { NodeAddress } from '../../../core/kube/objects.js'
import { ipFamily, nodeIpProblem } from './ip-address.js'

export interface AddressFacts {
  readonly hostname: string
  /** --node-ip, at most two; `0.0.0.0` and `::` only say which family is preferred. */
  readonly nodeIps: readonly string[]
  readonly isCloudExternal: boolean
  /** Addresses of this host, without their prefix lengths. */
  readonly ownAddresses: readonly string[]
  /** What DNS says about the name of the node. */
  readonly resolved: readonly string[]
  /** Addresses on the interfaces of the default routes, best first. */
  readonly routed: readonly string[]
  /** Those of the Node as it is. */
  readonly known: readonly NodeAddress[]
}

type AddressDecision =
  | { readonly addresses: readonly NodeAddress[]; readonly providedIp?: string }
  | { readonly problem: string }

const unspecified = new Set(['0.0.0.0', '::'])

export function decideAddresses(f: AddressFacts): AddressDecision {
  const given = f.nodeIps.filter((ip) => !unspecified.has(ip))
  for (const ip of given) {
    const problem = nodeIpProblem(ip, f.ownAddresses)
    if (problem !== undefined) return { problem: `failed to validate nodeIP: ${problem}` }
  }
  const hostName = { type: 'Hostname', address: f.hostname }
  const provided = f.isCloudExternal && given.length > 0 ? { providedIp: given.join(',') } : {}
  // What the cloud controller wrote is not overwritten; without a given address it is waited for.
  if (f.isCloudExternal && f.known.length > 0) return { addresses: f.known, ...provided }
  if (f.isCloudExternal && f.nodeIps.length === 0) return { addresses: [hostName] }
  const internal = given.length > 0 ? given : [bestAddress(f)].filter((ip) => ip !== undefined)
  if (internal.length === 0)
    return {
      problem: `no usable address: DNS does not know ${f.hostname}, and there is no default route; set --node-ip`,
    }
  return {
    addresses: [...internal.map((address) => ({ type: 'InternalIP', address })), hostName],
    ...provided,
  }
}

function bestAddress(f: AddressFacts): string | undefined {
  if (ipFamily(f.hostname) !== undefined) return f.hostname
  const family = f.nodeIps[0] === '::' ? 6 : 4
  const preferred = (list: readonly string[]): string | undefined =>
    list.find((ip) => ipFamily(ip) === family) ?? list[0]
  return (
    preferred(f.resolved.filter((ip) => nodeIpProblem(ip, f.ownAddresses) === undefined)) ??
    preferred(f.routed)
  )
}
