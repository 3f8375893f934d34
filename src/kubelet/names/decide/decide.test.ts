import { describe, expect, test } from 'vitest'
import { specOf } from '../../../../test/support/pod-manifest.js'
import { kernelHostname, podNames } from './hostname.js'
import { hostNetworkHosts, podHosts } from './hosts-file.js'

const domain = 'cluster.local'
const aliases = [{ ip: '10.1.1.1', hostnames: ['a', 'b'] }]

describe('host names', () => {
  for (const [name, fields, names] of [
    ["the pod's name", {}, { hostname: 'web', domain: '' }],
    ['its own', { hostname: 'h' }, { hostname: 'h', domain: '' }],
    ['a subdomain', { subdomain: 's' }, { hostname: 'web', domain: 's.default.svc.cluster.local' }],
    [
      'an override has no domain',
      { hostname: 'h', subdomain: 's', hostnameOverride: 'a.b.c' },
      { hostname: 'a.b.c', domain: '' },
    ],
    [
      'an override is cut',
      { hostnameOverride: `${'x'.repeat(62)}.y` },
      { hostname: 'x'.repeat(62), domain: '' },
    ],
  ] as const)
    test(name, () => expect(podNames(specOf(fields), domain)).toEqual(names))

  test('a long name of a pod is cut at 63 characters, and not in the middle of dots', () => {
    const long = `${'x'.repeat(61)}-.y`
    expect(podNames(specOf({}, { name: long.replace('-.', '-') }), domain).hostname).toBe(
      `${'x'.repeat(61)}-y`,
    )
    const dotted = `${'x'.repeat(61)}.${'y'.repeat(9)}`
    expect(podNames(specOf({}, { name: dotted }), domain).hostname).toBe(`${'x'.repeat(61)}.y`)
  })
})

describe('the name in the kernel', () => {
  test('with the domain only where asked for', () => {
    const names = { hostname: 'web', domain: 's.default.svc.cluster.local' }
    expect(kernelHostname(names, false)).toEqual({ name: 'web' })
    expect(kernelHostname(names, true)).toEqual({ name: 'web.s.default.svc.cluster.local' })
    expect(kernelHostname({ hostname: 'web', domain: '' }, true)).toEqual({ name: 'web' })
  })

  test('more than the kernel can keep', () => {
    const names = { hostname: 'h'.repeat(40), domain: 's.default.svc.cluster.local' }
    expect(kernelHostname(names, true)).toEqual({
      problem: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'h'.repeat(40)}.s.default.svc.cluster.local is too long (64 characters is the max, 68 characters requested)`,
    })
  })
})

test('the hosts file of a pod', () => {
  const hosts = podHosts(['10.0.0.2', 'fd00::2'], { hostname: 'web', domain: '' }, aliases)
  expect(hosts).toMatch(/^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/)
  expect(hosts).toContain('10.0.0.2\tweb\nfd00::2\tweb\n')
  expect(hosts).toContain('\n# Entries added by HostAliases.\n10.1.1.1\ta\tb\n')
})

test('with a domain both names are there', () => {
  expect(podHosts(['10.0.0.2'], { hostname: 'web', domain: 's.x' }, [])).toContain('10.0.0.2\tweb.s.x\tweb\n')
})

test("on the network of the host: the host's file below another header", () => {
  expect(hostNetworkHosts('127.0.0.1 localhost\n', aliases)).toBe(
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\n# Entries added by HostAliases.\n10.1.1.1\ta\tb\n',
  )
})
