// resolv.conf: reading the node's, and what a pod gets from it and from its own settings.
import type { DnsSpec } from '../../../core/pod/spec/spec.js'

export interface ResolvConf {
  readonly nameservers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

/** The last `search` line counts, as resolvers have it, options add up; comments begin with # or ;. */
export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = []
  let searches: readonly string[] = []
  let options: readonly string[] = []
  for (const line of text.split('\n')) {
    const [word, ...rest] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    const [first] = rest
    if (word === 'nameserver' && first !== undefined) nameservers.push(first)
    // The same domain with and without a dot at its end is one domain.
    else if (word === 'search' || word === 'domain')
      searches = rest.filter((name) => name !== '.').map((name) => name.replace(/\.$/, ''))
    else if (word === 'options') options = mergeOptions(options, rest)
  }
  return { nameservers, searches, options }
}

/** `ndots:2` takes the place of `ndots:5`. */
const mergeOptions = (before: readonly string[], added: readonly string[]): readonly string[] => [
  ...new Map([...before, ...added].map((option) => [option.split(':', 1)[0], option])).values(),
]

export interface ClusterDns {
  /** clusterDNS; without any, ClusterFirst is what Default is. */
  readonly servers: readonly string[]
  readonly domain: string | undefined
}

interface DnsOfPod {
  readonly dns: DnsSpec
  readonly hostNetwork: boolean
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string }
}

interface DnsWarning {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS'
  readonly message: string
}

interface PodDns extends ResolvConf {
  readonly warnings: readonly DnsWarning[]
}

/** `node` undefined: resolvConf is empty, and names are asked of the machine itself. */
export function podResolvConf(spec: DnsOfPod, node: ResolvConf | undefined, cluster: ClusterDns): PodDns {
  const { dns } = spec
  const warnings: DnsWarning[] = []
  const base = baseOf(spec, node, cluster, warnings)
  return {
    nameservers: fitNameservers([...new Set([...base.nameservers, ...dns.nameservers])], warnings),
    searches: fitSearches([...new Set([...base.searches, ...dns.searches])], warnings),
    options: mergeOptions(base.options, dns.options),
    warnings,
  }
}

const nothing: ResolvConf = { nameservers: [], searches: [], options: [] }
const ownMachine: ResolvConf = { nameservers: ['127.0.0.1'], searches: ['.'], options: [] }

/** What the pod's own dnsConfig is added to. */
function baseOf(
  { dns, hostNetwork, pod }: DnsOfPod,
  node: ResolvConf | undefined,
  cluster: ClusterDns,
  warnings: DnsWarning[],
): ResolvConf {
  if (dns.policy === 'None') return nothing
  const isCluster =
    dns.policy === 'ClusterFirstWithHostNet' || (dns.policy === 'ClusterFirst' && !hostNetwork)
  if (!isCluster) return node ?? ownMachine
  if (cluster.servers.length === 0) {
    const name = JSON.stringify(`${pod.name}_${pod.namespace}(${pod.uid})`)
    warnings.push({ reason: 'MissingClusterDNS', message: `pod: ${name}. ${missingClusterDns}` })
    return node ?? ownMachine
  }
  const { domain } = cluster
  const own = domain === undefined ? [] : [`${pod.namespace}.svc.${domain}`, `svc.${domain}`, domain]
  // Names of services have up to four dots, and are to be searched for first.
  return { nameservers: cluster.servers, searches: [...own, ...(node?.searches ?? [])], options: ['ndots:5'] }
}

const missingClusterDns =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'

/** What the C library reads; more would be written in vain. */
const maxNameservers = 3
const maxSearches = 32
const maxSearchLine = 2048
const maxSearch = 253

function fitNameservers(all: readonly string[], warnings: DnsWarning[]): readonly string[] {
  if (all.length <= maxNameservers) return all
  const kept = all.slice(0, maxNameservers)
  const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(' ')}`
  warnings.push({ reason: 'DNSConfigForming', message })
  return kept
}

function fitSearches(all: readonly string[], warnings: DnsWarning[]): readonly string[] {
  let kept = all.slice(0, maxSearches).filter((search) => search.length <= maxSearch)
  while (kept.join(' ').length > maxSearchLine) kept = kept.slice(0, -1)
  if (kept.length === all.length) return all
  const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`
  warnings.push({ reason: 'DNSConfigForming', message })
  return kept
}
