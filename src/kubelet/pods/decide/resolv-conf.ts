// resolv.conf: reading the node's, and what a pod gets from it and from its own settings.
import type { DnsSpec } from '../../../core/pod/spec/spec.js'

export interface ResolvConf {
  readonly nameservers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

/** What the C library reads; more would be written in vain. */
const maxNameservers = 3
const maxSearches = 32

/** The last `search` line counts, as resolvers have it; comments begin with # or ;. */
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
    else if (word === 'search' || word === 'domain') searches = rest
    else if (word === 'options') options = rest
  }
  return { nameservers, searches, options }
}

const nothing: ResolvConf = { nameservers: [], searches: [], options: [] }

export interface ClusterDns {
  /** clusterDNS; empty on a node without a cluster, where ClusterFirst is what Default is. */
  readonly servers: readonly string[]
  readonly domain: string | undefined
}

interface DnsOfPod {
  readonly dns: DnsSpec
  readonly hostNetwork: boolean
  readonly pod: { readonly namespace: string }
}

/** What the pod's own dnsConfig is added to. */
function baseOf({ dns, hostNetwork, pod }: DnsOfPod, node: ResolvConf, cluster: ClusterDns): ResolvConf {
  if (dns.policy === 'None') return nothing
  const isCluster =
    dns.policy === 'ClusterFirstWithHostNet' || (dns.policy === 'ClusterFirst' && !hostNetwork)
  if (!isCluster || cluster.servers.length === 0) return node
  const { domain } = cluster
  const own = domain === undefined ? [] : [`${pod.namespace}.svc.${domain}`, `svc.${domain}`, domain]
  // Names of services have up to four dots, and are to be searched for first.
  return { nameservers: cluster.servers, searches: [...own, ...node.searches], options: ['ndots:5'] }
}

export function podResolvConf(spec: DnsOfPod, node: ResolvConf, cluster: ClusterDns): ResolvConf {
  const { dns } = spec
  const base = baseOf(spec, node, cluster)
  const options = new Map(
    [...base.options, ...dns.options].map((option) => [option.split(':', 1)[0], option]),
  )
  return {
    nameservers: [...new Set([...base.nameservers, ...dns.nameservers])].slice(0, maxNameservers),
    searches: [...new Set([...base.searches, ...dns.searches])].slice(0, maxSearches),
    options: [...options.values()],
  }
}

/** The pod's /etc/hosts, as the kubelet writes it. */
export function formatHosts(
  ips: readonly string[],
  hostname: string,
  aliases: readonly { readonly ip: string; readonly hostnames: readonly string[] }[],
): string {
  const own = ips.map((ip) => `${ip}\t${hostname}\n`).join('')
  const added = aliases.map(({ ip, hostnames }) => `${ip}\t${hostnames.join('\t')}\n`).join('')
  return `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::\tip6-localnet
fe00::\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
${own}${added === '' ? '' : `\n# Entries added by HostAliases.\n${added}`}`
}
