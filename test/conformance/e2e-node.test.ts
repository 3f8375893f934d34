// Kubernetes' node suite: which specs a run is about, what its report says, what is recorded, and the score on the page.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { groupNames, groupOf, groups } from '../../conformance/e2e-node/groups.js'
import { limits } from '../../conformance/e2e-node/limits.js'
import { parseOptions, parseShard } from '../../conformance/e2e-node/options.js'
import { parseResults, suiteFailures } from '../../conformance/e2e-node/report.js'
import {
  compareResults,
  formatResults,
  mergeResults,
  type Results,
  readResults,
  resultsPath,
} from '../../conformance/e2e-node/results.js'
import { focusArguments, type ListedSpec, parseList, selectSpecs } from '../../conformance/e2e-node/specs.js'
import { formatTable, renderPage, replaceTable } from '../../conformance/e2e-node/table.js'
import { groupWaitsFor, waiting } from '../../conformance/e2e-node/waits-for.js'
import { formatConfig } from '../../conformance/node-environment/containerd-config.js'
import { places } from '../../conformance/node-environment/plan.js'
import type { KubeletName } from '../../conformance/node-environment/programs.js'
import { UsageError } from '../../conformance/unit.js'

const root = join(import.meta.dirname, '../..')

const report = (name: string, more: object = {}): object => ({
  LeafNodeType: 'It',
  ContainerHierarchyTexts: ['[sig-node] Pods'],
  ContainerHierarchyLabels: [['sig-node']],
  LeafNodeText: name,
  LeafNodeLabels: ['NodeConformance'],
  LeafNodeLocation: { FileName: 'k8s.io/kubernetes@v1.37.1/test/e2e/common/node/pods.go' },
  State: 'passed',
  ...more,
})
const suite = (...reports: object[]): string => JSON.stringify([{ SpecReports: reports }])
const spec = (name: string, ...labels: string[]): ListedSpec => ({ name, group: 'pods', labels })

describe('groups', () => {
  test('a source file stands in one group', () => {
    const files = groupNames.flatMap((g) =>
      Object.entries(groups[g].files).flatMap(([folder, names]) => names.map((n) => `${folder}/${n}`)),
    )
    expect(new Set(files).size).toBe(files.length)
  })

  for (const [path, group] of [
    ['k8s.io/kubernetes@v1.37.1/test/e2e/common/node/container_probe.go', 'lifecycle'],
    ['k8s.io/kubernetes@v1.37.1/test/e2e_node/standalone_test.go', 'nodes'],
    ['k8s.io/kubernetes@v1.37.1/test/e2e_node/pod_ips.go', 'pods'],
    ['k8s.io/kubernetes@v1.37.1/test/e2e_node/brand_new_test.go', 'later'],
  ] as const)
    test(`${path} belongs to ${group}`, () => {
      expect(groupOf(path)).toBe(group)
    })
})

describe('selection', () => {
  const list = [
    spec('a', 'NodeConformance'),
    spec('b', 'NodeConformance', 'Serial'),
    spec('c', 'NodeConformance', 'Feature:Swap'),
    spec('d', 'Feature:StandaloneMode'),
    spec('e', 'NodeConformance', 'Conformance'),
    { ...spec('f', 'NodeConformance'), group: 'nodes' as const },
  ]
  const names = (selection: Parameters<typeof selectSpecs>[1]): string =>
    selectSpecs(list, selection)
      .map((s) => s.name)
      .join('')

  test('plain leaves out marks; standalone specs never mix with others', () => {
    expect(names({ set: 'plain' })).toBe('aef')
    expect(names({ set: 'node-conformance' })).toBe('abcef')
    expect(names({ set: 'standalone' })).toBe('d')
    expect(names({ set: 'all' })).toBe('abcef')
    expect(names({ set: 'all', group: 'nodes' })).toBe('f')
    expect(names({ set: 'all', focus: 'b' })).toBe('b')
  })

  test('shards are disjoint and together the whole', () => {
    const parts = [1, 2, 3].map((part) => names({ set: 'all', shard: { part, of: 3 } }))
    expect([...parts.join('')].sort().join('')).toBe('abcef')
  })

  test('the focus for ginkgo matches one name and no longer one', () => {
    const [argument = ''] = focusArguments([spec('should [x] (y) be 1.0? [NodeConformance]')])
    const focus = new RegExp(argument.slice('--focus='.length))
    expect(focus.test('E2eNode Suite should [x] (y) be 1.0? [NodeConformance]')).toBe(true)
    expect(focus.test('E2eNode Suite should [x] (y) be 1.0? [NodeConformance] [Serial]')).toBe(false)
    expect(focus.test('E2eNode Suite should [x] (y) be 100? [NodeConformance]')).toBe(false)
  })

  test('a dry run is read as names, groups and labels', () => {
    const withoutText = { ContainerHierarchyTexts: ['[sig-node] Pods', ''] } // ginkgo leaves it out too
    const text = suite(report('should run', withoutText), report('', { LeafNodeType: 'BeforeSuite' }))
    expect(parseList(text)).toEqual([
      { name: '[sig-node] Pods should run', group: 'pods', labels: ['sig-node', 'NodeConformance'] },
    ])
  })
})

describe('flags', () => {
  test('defaults: Keelson on containerd 2, the plain set', () => {
    expect(parseOptions({})).toMatchObject({
      kubelet: 'keelson',
      runtime: 'containerd-2',
      selection: { set: 'plain' },
      procs: 12,
      record: false,
    })
    expect(parseOptions({ group: 'pressure' }).selection.set).toBe('node-conformance')
  })

  for (const [given, words] of [
    [{ kubelet: 'mine' }, 'upstream, keelson'],
    [{ runtime: 'docker' }, 'containerd-1.6, containerd-2'],
    [{ group: 'volumes' }, 'nodes, pods'],
    [{ set: 'every' }, 'plain'],
    [{ shard: '0/2' }, 'K/N'],
    [{ shard: '3/2' }, 'K/N'],
    [{ shard: 'a/b' }, 'K/N'],
    [{ procs: '0' }, '1 to 64'],
    [{ procs: 'many' }, '1 to 64'],
  ] as const)
    test(`${JSON.stringify(given)} is refused with the choices`, () => {
      expect(() => parseOptions(given)).toThrow(UsageError)
      expect(() => parseOptions(given)).toThrow(words)
    })

  test('a shard is one part of several', () => {
    expect(parseShard('2/4')).toEqual({ part: 2, of: 4 })
  })
})

describe('a report', () => {
  const chosen = ['a', 'b', 'c', 'd'].map((n) => spec(`[sig-node] Pods ${n}`))
  const text = suite(
    report('a'),
    report('b', { State: 'failed', Failure: { Message: 'no\n  luck' } }),
    report('c', { State: 'skipped', Failure: { Message: 'needs swap' } }),
    report('d', { State: 'skipped' }),
    report('other'),
  )

  test('has the outcome of each chosen spec, and no other', () => {
    expect([...parseResults(text, chosen)]).toEqual([
      ['[sig-node] Pods a', { outcome: 'passed' }],
      ['[sig-node] Pods b', { outcome: 'failed', message: 'no luck' }],
      ['[sig-node] Pods c', { outcome: 'skipped', message: 'needs swap' }],
      ['[sig-node] Pods d', { outcome: 'not run' }],
    ])
  })

  test('of a suite that could not begin ran none of them, and says why', () => {
    const failed = {
      LeafNodeType: 'SynchronizedBeforeSuite',
      State: 'failed',
      Failure: { Message: 'no node' },
    }
    const stopped = suite(report('', failed), report('a', { State: 'skipped' }))
    expect(suiteFailures(stopped)).toEqual(['SynchronizedBeforeSuite: no node'])
    expect(parseResults(stopped, chosen).get('[sig-node] Pods a')).toEqual({ outcome: 'not run' })
  })
})

const results = (specs: Results['specs'], kubelet = 'kubelet v1'): Results => ({
  suite: 's',
  kubelet,
  runtime: 'r',
  machine: 'm',
  specs,
})
const passed = { group: 'pods', outcome: 'passed' } as const
const failed = { group: 'pods', outcome: 'failed', message: 'm' } as const

describe('recorded results', () => {
  test('one line per spec; a later run replaces its own specs and tells what changed', () => {
    const old = results({ b: passed, a: passed })
    const fresh = results({ a: failed })
    const merged = mergeResults(old, fresh)
    expect(merged.specs).toEqual({ a: failed, b: passed })
    expect(compareResults(old, fresh)).toEqual(['passed -> failed: a'])
    const text = formatResults(merged)
    expect(JSON.parse(text)).toEqual(merged)
    expect(text.split('\n').filter((l) => l.includes('"group"')).length).toBe(2)
  })

  /** All recorded specs of a kubelet, of every place. */
  const recorded = async (kubelet: KubeletName): Promise<Results['specs']> => {
    const files = await Promise.all(
      places.map((p) => readResults(resultsPath('e2e-node', { kubelet, runtime: 'containerd-2', place: p }))),
    )
    return Object.assign({}, ...files.map((f) => f?.specs ?? {})) as Results['specs']
  }

  test('every spec that upstream does not pass is a named limit, and no limit passes', async () => {
    const missed = Object.entries(await recorded('upstream'))
      .filter(([, s]) => s.outcome !== 'passed')
      .map(([name]) => name)
    expect(limits.flatMap((l) => l.specs).toSorted()).toEqual(missed.toSorted())
  })

  test('every spec that upstream passes and Keelson does not has what it waits for', async () => {
    const upstream = await recorded('upstream')
    const keelson = await recorded('keelson')
    const failing = Object.keys(keelson).filter(
      (name) => upstream[name]?.outcome === 'passed' && keelson[name]?.outcome === 'failed',
    )
    const named = new Set(waiting.flatMap((w) => w.specs))
    for (const name of failing) {
      const group = keelson[name]?.group ?? 'standalone'
      expect(named.has(name) || (group !== 'standalone' && group in groupWaitsFor), name).toBe(true)
    }
    for (const name of named) expect(failing, 'listed, but passes or is gone').toContain(name)
  })

  test('the upstream kubelet passes at least 422 of the 426 plain specs', async () => {
    const upstream = await readResults(
      resultsPath('e2e-node', { kubelet: 'upstream', runtime: 'containerd-2' }),
    )
    const plain = Object.values(upstream?.specs ?? {}).filter(
      (s) => s.group !== 'standalone' && s.group !== 'pressure',
    )
    expect(plain.length).toBe(426)
    expect(plain.filter((s) => s.outcome === 'passed').length).toBeGreaterThanOrEqual(422)
  })
})

describe('the score', () => {
  test('counts by group, and names what is missing', () => {
    const keelson = results({ a: passed, b: failed }, 'keelson 1')
    const table = formatTable({ upstream: results({ a: passed, b: passed, c: failed }), keelson })
    expect(table).toContain('| pods |')
    expect(table).toMatch(/\| 3 \| 2 \| 1 \|/)
    expect(table).toContain('| b | m |')
    expect(table).toContain('| c | m |')
    const uml = { upstream: results({ d: passed, e: failed }), keelson: undefined }
    expect(formatTable({ upstream: results({}), keelson: undefined }, uml)).toMatch(
      /cgroup v2 .* 2 \| 1 \| - \|/,
    )
  })

  test('goes between its marks, and nowhere else', () => {
    const table = formatTable({ upstream: results({}), keelson: undefined })
    const [first = '', last = ''] = [table.split('\n')[0], table.split('\n').at(-1)]
    expect(replaceTable(`before\n${first}\nold\n${last}\nafter`, table)).toBe(`before\n${table}\nafter`)
    expect(() => replaceTable('no marks', table)).toThrow('marks')
  })

  test('on the page is the one of the recorded results', async () => {
    expect(await renderPage()).toBe(readFileSync(join(root, 'docs/conformance.md'), 'utf8'))
  })
})

test('containerd 1.6 and 2 get the form of configuration that each reads', () => {
  const settings = { directory: '/mnt/node', runc: '/usr/sbin/runc', driver: 'cgroupfs' } as const
  const old = formatConfig('containerd-1.6', settings)
  const current = formatConfig('containerd-2', settings)
  expect([old.split('\n')[0], current.split('\n')[0]]).toEqual(['version = 2', 'version = 3'])
  expect(old).toContain('io.containerd.grpc.v1.cri')
  expect(current).toContain('io.containerd.cri.v1.runtime')
  for (const text of [old, current]) expect(text).toContain('runtimes.test-handler')
  expect(current).not.toContain('stats_collect_period')
  const slower = { ...settings, collectPeriod: '1m' }
  expect(formatConfig('containerd-2', slower)).toContain('\n  stats_collect_period = "1m"\n')
})
