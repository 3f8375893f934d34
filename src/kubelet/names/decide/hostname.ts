// What a pod is called inside: its host name, its domain, and the name that the kernel shows.
import type { PodSpec } from '../../../core/pod/spec/spec.js'

interface PodNames {
  readonly hostname: string
  /** Of a pod with a subdomain; empty: none. */
  readonly domain: string
}

type NamedPod = Pick<PodSpec, 'hostname' | 'hostnameOverride' | 'subdomain'> & {
  readonly pod: { readonly name: string; readonly namespace: string }
}

/** Names of hosts end at 63 characters, names of pods do not. */
const cut = (name: string): string => (name.length <= 63 ? name : name.slice(0, 63).replace(/[-.]+$/, ''))

export function podNames(spec: NamedPod, clusterDomain: string | undefined): PodNames {
  const { pod, hostname, hostnameOverride, subdomain } = spec
  if (hostnameOverride !== undefined) return { hostname: cut(hostnameOverride), domain: '' }
  return {
    hostname: cut(hostname ?? pod.name),
    domain: subdomain === undefined ? '' : `${subdomain}.${pod.namespace}.svc.${clusterDomain ?? ''}`,
  }
}

/** The kernel keeps 64 characters. */
const maxKernelName = 64

/** What `uname -n` shows; a problem: the name does not fit. */
export function kernelHostname(
  { hostname, domain }: PodNames,
  asFQDN: boolean,
): { readonly name: string } | { readonly problem: string } {
  if (!asFQDN || domain === '') return { name: hostname }
  const name = `${hostname}.${domain}`
  if (name.length <= maxKernelName) return { name }
  return {
    problem: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long (${maxKernelName} characters is the max, ${name.length} characters requested)`,
  }
}
