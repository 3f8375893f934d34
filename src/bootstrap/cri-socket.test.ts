// Words that are an endpoint, words that become one, and words that are refused.
import { describe, expect, test } from 'vitest'
import { decideDetected, normalizeEndpoint } from './cri-socket.js'

describe('normalizeEndpoint', () => {
  for (const [value, os, endpoint, warned] of [
    ['unix:///run/x.sock', 'linux', 'unix:///run/x.sock', false],
    ['unix:/run/x.sock', 'linux', 'unix:/run/x.sock', false],
    ['UNIX:///run/x.sock', 'linux', 'unix:///run/x.sock', false],
    ['/run/x.sock', 'linux', 'unix:///run/x.sock', true],
    ['/run/a:b.sock', 'linux', 'unix:///run/a:b.sock', true],
    ['npipe:////./pipe/x', 'windows', 'npipe:////./pipe/x', false],
    ['//./pipe/x', 'windows', 'npipe:////./pipe/x', true],
  ] as const)
    test(`${value} on ${os}`, () => {
      const first = normalizeEndpoint(value, os, 'criSocket')
      expect(first.endpoint).toBe(endpoint)
      expect(first.warnings.map((w) => w.id)).toEqual(warned ? ['scheme-prepended'] : [])
      // Upstream once put a prefix in front at every upgrade.
      expect(normalizeEndpoint(first.endpoint, os, 'criSocket')).toEqual({ endpoint, warnings: [] })
    })

  for (const [value, os, words] of [
    ['tcp://127.0.0.1:1', 'linux', ['criSocket', 'only', 'unix', 'tcp']],
    ['npipe:////./pipe/x', 'linux', ['criSocket', 'only', 'unix', 'npipe']],
    ['unix:///run/x', 'windows', ['criSocket', 'only', 'npipe', 'unix']],
    ['unix/run/x', 'linux', ['criSocket', 'only', 'unix']],
    ['unixsocket:///x', 'linux', ['criSocket', 'only', 'unix', 'unixsocket']],
    ['localhost:1234', 'linux', ['criSocket', 'only', 'unix', 'localhost']],
    ['', 'linux', ['criSocket', 'empty']],
    ['unix://', 'linux', ['criSocket', 'no path']],
    ['unix:///run/%zz', 'linux', ['criSocket', 'URL']],
    ['/run/x y', 'linux', ['criSocket', 'blanks']],
  ] as const)
    test(`${JSON.stringify(value)} on ${os} is refused`, () => {
      const refuse = () => normalizeEndpoint(value, os, 'nodeRegistration.criSocket')
      for (const word of words) expect(refuse).toThrow(word)
    })
})

test('decideDetected: order of the table, unknown endpoints do not count', () => {
  const [containerd, crio, dockerd] = [
    'unix:///var/run/containerd/containerd.sock',
    'unix:///var/run/crio/crio.sock',
    'unix:///var/run/cri-dockerd.sock',
  ]
  expect(decideDetected([], 'linux')).toEqual({ kind: 'none', endpoint: containerd })
  expect(decideDetected(['unix:///run/other.sock'], 'linux')).toEqual({ kind: 'none', endpoint: containerd })
  expect(decideDetected([dockerd ?? ''], 'linux')).toEqual({ kind: 'one', endpoint: dockerd })
  expect(decideDetected([dockerd ?? '', crio ?? ''], 'linux')).toEqual({
    kind: 'several',
    endpoints: [crio, dockerd],
  })
})
