import { expect, test } from 'vitest'
import type { DnsSpec } from '../../../core/pod/spec/spec.js'
import { formatHosts, parseResolvConf, podResolvConf } from './resolv-conf.js'

const text = `# made by hand
nameserver 1.1.1.1
nameserver 2.2.2.2 ; second
search a.example
search b.example c.example
options edns0 ndots:1
`
const node = parseResolvConf(text)
const spec = { nameservers: [], searches: [], options: [] }
const none = { servers: [], domain: undefined }
const cluster = { servers: ['10.96.0.10'], domain: 'cluster.local' }
const podOf = (dns: Partial<DnsSpec>, hostNetwork = false) => ({
  dns: { policy: 'ClusterFirst' as const, ...spec, ...dns },
  hostNetwork,
  pod: { namespace: 'shop' },
})

test('resolv.conf is read as resolvers read it', () => {
  expect(node).toEqual({
    nameservers: ['1.1.1.1', '2.2.2.2'],
    searches: ['b.example', 'c.example'],
    options: ['edns0', 'ndots:1'],
  })
  expect(parseResolvConf('garbage\nnameserver\n')).toEqual({ nameservers: [], searches: [], options: [] })
})

for (const policy of ['ClusterFirst', 'Default', 'ClusterFirstWithHostNet'] as const)
  test(`${policy} without a cluster: the node's`, () =>
    expect(podResolvConf(podOf({ policy }), node, none)).toEqual(node))

const ofCluster = {
  nameservers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'b.example', 'c.example'],
  options: ['ndots:5'],
}
for (const [policy, hostNetwork, expected] of [
  ['ClusterFirst', false, ofCluster],
  ['ClusterFirst', true, node],
  ['ClusterFirstWithHostNet', true, ofCluster],
  ['Default', false, node],
] as const)
  test(`clusterDNS is set, ${policy}${hostNetwork ? ' on the network of the host' : ''}: ${expected === node ? "the node's" : "the cluster's"}`, () =>
    expect(podResolvConf(podOf({ policy }, hostNetwork), node, cluster)).toEqual(expected))

test('clusterDNS without clusterDomain: its servers, and the searches of the node', () => {
  const dns = podResolvConf(podOf({}), node, { ...cluster, domain: undefined })
  expect(dns).toEqual({ ...ofCluster, searches: node.searches })
})

test('None: only what the pod says', () => {
  expect(podResolvConf(podOf({ policy: 'None', nameservers: ['3.3.3.3'] }), node, cluster)).toEqual({
    nameservers: ['3.3.3.3'],
    searches: [],
    options: [],
  })
})

test('both: the pod adds, its options win, and three servers are enough', () => {
  const merged = podResolvConf(
    podOf({
      policy: 'Default',
      nameservers: ['1.1.1.1', '3.3.3.3', '4.4.4.4'],
      searches: ['d'],
      options: ['ndots:5'],
    }),
    node,
    none,
  )
  expect(merged).toEqual({
    nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'],
    searches: ['b.example', 'c.example', 'd'],
    options: ['edns0', 'ndots:5'],
  })
})

test('the hosts file of a pod', () => {
  const hosts = formatHosts(['10.0.0.2', 'fd00::2'], 'web', [{ ip: '10.1.1.1', hostnames: ['a', 'b'] }])
  expect(hosts).toContain('127.0.0.1\tlocalhost\n')
  expect(hosts).toContain('10.0.0.2\tweb\nfd00::2\tweb\n')
  expect(hosts).toContain('\n# Entries added by HostAliases.\n10.1.1.1\ta\tb\n')
})
