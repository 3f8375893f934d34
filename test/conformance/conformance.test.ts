// The conformance tier's own parts, without building a peer: what it compares, what it explains, where it keeps things.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareStates } from '../../conformance/bootstrap/compare.js'
import { differenceNames, explain } from '../../conformance/bootstrap/known-differences.js'
import type { NodeState, Scenario } from '../../conformance/bootstrap/scenario.js'
import { scenarios } from '../../conformance/bootstrap/scenarios.js'
import { differenceNames as cadvisorDifferences } from '../../conformance/cadvisor/known-differences.js'
import { cacheRoot, explainBuildFailure, readPinnedVersion } from '../../conformance/peers/build.js'
import { peerNames, peerOf } from '../../conformance/peers/catalogue.js'
import { formatCounts } from '../../conformance/unit.js'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8')

const state: NodeState = {
  files: {
    '/var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\nmaxPods: 10\n',
    '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS=""\n',
  },
  modes: { '/var/lib/kubelet/config.yaml': '644' },
  kubernetesFiles: ['/etc/kubernetes/kubelet.conf'],
  backups: [],
  annotation: 'unix:///run/a.sock',
  kubeletConfigMap: 'maxPods: 10\n',
  kubeadmConfigMap: undefined,
}

describe('compareStates', () => {
  test('equal states, whatever the order of keys', () => {
    const files = {
      ...state.files,
      '/var/lib/kubelet/config.yaml': 'maxPods: 10\nkind: KubeletConfiguration\n',
    }
    expect(compareStates(state, { ...state, files })).toEqual([])
  })

  for (const { name, change, item } of [
    {
      name: 'one key of config.yaml',
      change: {
        files: {
          ...state.files,
          '/var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\nmaxPods: 11\n',
        },
      },
      item: 'config.yaml: maxPods',
    },
    {
      name: 'the text of the flags file',
      change: { files: { ...state.files, '/var/lib/kubelet/kubeadm-flags.env': '' } },
      item: 'kubeadm-flags.env',
    },
    {
      name: 'a mode',
      change: { modes: { '/var/lib/kubelet/config.yaml': '600' } },
      item: 'mode of config.yaml',
    },
    { name: 'a left-over kubeconfig', change: { kubernetesFiles: [] }, item: 'files of /etc/kubernetes' },
    { name: 'the annotation', change: { annotation: undefined }, item: 'annotation' },
    {
      name: 'a ConfigMap that is missing',
      change: { kubeletConfigMap: undefined },
      item: 'ConfigMap kubelet-config',
    },
  ] satisfies { name: string; change: Partial<NodeState>; item: string }[])
    test(`sees ${name}`, () => {
      expect(compareStates(state, { ...state, ...change }).map((d) => d.item)).toEqual([item])
    })
})

test('a wrong endpoint after a plain join is not explained away', () => {
  const scenario: Scenario = { name: 'x', command: 'join', minors: ['1.35'], criSocket: 'unix:///run/a.sock' }
  const difference = {
    item: 'config.yaml: containerRuntimeEndpoint',
    kubeadm: 'unix:///run/a.sock',
    keelson: '',
  }
  for (const profile of ['kep', 'upstream'] as const)
    expect(explain(difference, { scenario, minor: '1.35', profile })).toBeUndefined()
})

test('every difference on purpose is explained on the page, and only those', () => {
  const explained = (unit: string): (string | undefined)[] => {
    const section = page.split('\n## ').find((part) => part.startsWith(`${unit}:`)) ?? ''
    return [...section.matchAll(/^- \*\*([a-z-]+)\*\*/gm)].map((m) => m[1]).sort()
  }
  expect(explained('bootstrap')).toEqual(differenceNames(scenarios).sort())
  expect(explained('cadvisor')).toEqual(cadvisorDifferences.toSorted())
})

test('scenarios have names of their own', () => {
  expect(new Set(scenarios.map((s) => s.name)).size).toBe(scenarios.length)
})

describe('peers', () => {
  for (const name of peerNames)
    test(`${name} is pinned, with sums, and its version is on the page`, async () => {
      const peer = peerOf(name)
      const version = await readPinnedVersion(peer)
      expect(page).toContain(version.slice(1))
      expect(readFileSync(join(root, 'conformance/go', peer.module, 'go.sum'), 'utf8')).toContain(
        `${peer.versionOf} ${version} h1:`,
      )
    })

  // A peer that is a library needs a caller; it is short, ours, and a test tool only.
  const callers = new Set(['cadvisor', 'coredns', 'metrics-server'])

  test('their modules hold pins, and a short caller where the peer is a library', () => {
    for (const folder of readdirSync(join(root, 'conformance/go'))) {
      const expected = callers.has(folder) ? ['go.mod', 'go.sum', 'main.go'] : ['go.mod', 'go.sum']
      expect(readdirSync(join(root, 'conformance/go', folder)).sort()).toEqual(expected)
      if (callers.has(folder))
        expect(
          readFileSync(join(root, 'conformance/go', folder, 'main.go'), 'utf8').split('\n').length,
        ).toBeLessThan(150)
    }
  })
})

test('a module that cannot be downloaded is said in words, before the compiler output', () => {
  const offline =
    'go: k8s.io/api@v0.37.1: Get "https://proxy.golang.org/": dial tcp: lookup proxy.golang.org: no such host'
  expect(explainBuildFailure('kubelet', 1, offline)).toContain(
    'a module cannot be downloaded; check the network and GOPROXY',
  )
  expect(explainBuildFailure('kubelet', 1, 'main.go:1: syntax error')).not.toContain('downloaded')
})

test('binaries are kept outside the repository', () => {
  expect(cacheRoot({ KEELSON_CACHE: '/c', XDG_CACHE_HOME: '/x' })).toBe('/c/conformance')
  expect(cacheRoot({ XDG_CACHE_HOME: '/x' })).toBe('/x/keelson/conformance')
  expect(cacheRoot({}).startsWith(`${root}/`)).toBe(false)
  expect(existsSync(join(root, 'conformance/bin'))).toBe(false)
})

test('a run ends in counts', () => {
  const results = [
    { unit: 'u', check: 'a', outcome: 'passed' },
    { unit: 'u', check: 'b', outcome: 'skipped', reason: 'no Go' },
  ] as const
  expect(formatCounts(results)).toBe('1 passed, 0 failed, 1 skipped')
})
