// The /etc/hosts of a pod, as the kubelet writes it.
import type { HostAlias } from '../../../core/pod/spec/spec.js'

/** On a network of its own. */
export function podHosts(
  ips: readonly string[],
  { hostname, domain }: { readonly hostname: string; readonly domain: string },
  aliases: readonly HostAlias[],
): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`
  return `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
${ips.map((ip) => `${ip}\t${names}\n`).join('')}${aliasLines(aliases)}`
}

/** On the network of the host: the host's names, and the pod's own. */
export const hostNetworkHosts = (nodeHosts: string, aliases: readonly HostAlias[]): string =>
  `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliasLines(aliases)}`

function aliasLines(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return ''
  const lines = aliases.map(({ ip, hostnames }) => `${ip}\t${hostnames.join('\t')}\n`)
  return `\n# Entries added by HostAliases.\n${lines.join('')}`
}
