import { expect, test } from 'vitest'
import type { DnsSpec } from '../../../core/pod/spec/spec.js'
import { parseResolvConf, podResolvConf } from './resolv-conf.js'

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
  pod: { name: 'web', namespace: 'shop', uid: 'u1' },
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
    expect(podResolvConf(podOf({ policy }), node, none)).toMatchObject(node))

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
    expect(podResolvConf(podOf({ policy }, hostNetwork), node, cluster)).toMatchObject(expected))

test('clusterDNS without clusterDomain: its servers, and the searches of the node', () => {
  const dns = podResolvConf(podOf({}), node, { ...cluster, domain: undefined })
  expect(dns).toMatchObject({ ...ofCluster, searches: node.searches })
})

test('None: only what the pod says', () => {
  expect(podResolvConf(podOf({ policy: 'None', nameservers: ['3.3.3.3'] }), node, cluster)).toMatchObject({
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
  expect(merged).toMatchObject({
    nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'],
    searches: ['b.example', 'c.example', 'd'],
    options: ['edns0', 'ndots:5'],
  })
})

test('too much for the C library: cut, with a warning that names what is left', () => {
  const many = podResolvConf(
    podOf({
      policy: 'None',
      nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'],
      searches: Array.from({ length: 40 }, (_, i) => `s${i}`),
    }),
    node,
    cluster,
  )
  expect(many.searches).toHaveLength(32)
  expect(many.warnings.map(({ message }) => message)).toEqual([
    'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3',
    expect.stringMatching(/^Search Line limits were exceeded, .* search line is: s0 s1 .* s31$/),
  ])
  const long = podResolvConf(
    podOf({
      policy: 'None',
      nameservers: ['1.1.1.1'],
      searches: ['a'.repeat(254), ...Array.from({ length: 20 }, (_, i) => `${i}${'b'.repeat(200)}`)],
    }),
    node,
    cluster,
  )
  expect(long.searches.join(' ').length).toBeLessThanOrEqual(2048)
  expect(long.searches).toHaveLength(10)
  expect(long.warnings).toHaveLength(1)
})

test('ClusterFirst without clusterDNS: a warning; Default needs none', () => {
  expect(podResolvConf(podOf({}), node, none).warnings).toEqual([
    {
      reason: 'MissingClusterDNS',
      message:
        'pod: "web_shop(u1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
    },
  ])
  expect(podResolvConf(podOf({ policy: 'Default' }), node, none).warnings).toEqual([])
})

test('resolvConf is empty: the machine itself is asked, and nothing is searched', () => {
  const { nameservers, searches } = podResolvConf(podOf({ policy: 'Default' }), undefined, none)
  expect({ nameservers, searches }).toEqual({ nameservers: ['127.0.0.1'], searches: ['.'] })
})

test('a dot at the end of a search domain is left out; options of several lines add up', () => {
  expect(parseResolvConf('search a.example. .\noptions ndots:1 rotate\noptions ndots:3\n')).toEqual({
    nameservers: [],
    searches: ['a.example'],
    options: ['ndots:3', 'rotate'],
  })
})
