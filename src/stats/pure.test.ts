// Small rules of the statistics: decimals, rates, labels, text, JSON, names of cgroups, which pods count.

import { describe, expect, test } from 'vitest'
import { containersOf, hexId, sandboxOf } from '../../test/support/stats-fixture.js'
import { web } from '../../test/support/stats-pods.js'
import { possiblePageSizes } from '../core/plan/hugetlb.js'
import { PodSandboxState } from '../cri-api/api.js'
import { extraLabels } from './catalogue/family.js'
import { families } from './catalogue/index.js'
import { usageNanoCores } from './cgroup/cpu-rate.js'
import { containerIdOf, createCgroupLocator } from './cgroup/locator.js'
import { sharesFromWeight } from './collectors/cpu.js'
import { networkValues } from './collectors/network.js'
import { createSharedAnswer } from './memoize-latest.js'
import { criValue, formatDecimal } from './render/decimal.js'
import { createExposition, formatTimestamp } from './render/exposition.js'
import { formatJson, formatTime } from './render/json.js'
import { createRow, createRows } from './render/row.js'
import { decideSwitches } from './render/row-writer.js'
import { buildInventory } from './runtime/inventory.js'
import { opaqueHandlers } from './runtime/opaque-handlers.js'

describe('decimals', () => {
  test.each([
    [0n, 9, '0', 0n],
    [1n, 9, '0.000000001', 0n],
    [1_750_000_000n, 9, '1.75', 1n],
    [999_999_999n, 9, '0.999999999', 0n],
    [10_000_000_000n, 9, '10', 10n],
    [18_446_744_073_709_551_615n, 9, '18446744073.709551615', 18_446_744_073n],
    [18_446_744_073_709_551_615n, 0, '18446744073709551615', 18_446_744_073_709_551_615n],
    [-1_500_000_000n, 9, '-1.5', -1n],
  ])('%s with %i places', (value, places, exact, whole) => {
    expect(formatDecimal(value, places)).toBe(exact)
    expect(criValue(value, places)).toBe(whole)
  })
})

test('cores in use need two readings of a counter that went forward', () => {
  const at = (timeNanos: bigint, usageNanos: bigint) => ({ timeNanos, usageNanos })
  expect(usageNanoCores(undefined, at(1n, 1n))).toBeUndefined()
  expect(usageNanoCores(at(0n, 5n), at(10n, 4n))).toBeUndefined()
  expect(usageNanoCores(at(10n, 5n), at(10n, 6n))).toBeUndefined()
  expect(usageNanoCores(at(0n, 0n), at(3n, 1n))).toBe(333_333_333n)
  expect(usageNanoCores(at(0n, 7n), at(10n, 7n))).toBe(0n)
})

test('shares from weight, sizes of huge pages', () => {
  expect([1n, 39n, 100n, 10_000n].map(sharesFromWeight)).toEqual([2n, 998n, 2_597n, 262_144n])
  expect(possiblePageSizes).toEqual(expect.arrayContaining(['64KB', '2MB', '32MB', '1GB', '16GB']))
})

test('labels: alphabetical, escaped, made once', () => {
  const row = createRow('container', {
    container: 'a"b',
    id: '/x\\y',
    image: 'new\nline',
    name: 'n',
    namespace: 'ns',
    pod: 'p',
  })
  expect(row.block(extraLabels({ cpu: 'total', zone: '1' }))).toBe(
    '{container="a\\"b",cpu="total",id="/x\\\\y",image="new\\nline",name="n",namespace="ns",pod="p",zone="1"}',
  )
  const rows = createRows()
  const get = () => rows.get('pod', 'k', () => row.labels)
  const first = get()
  rows.sweep()
  expect(get()).toBe(first)
  rows.sweep()
  rows.sweep()
  expect(get()).not.toBe(first)
})

test('exposition: families together, help escaped, times in ms, none for 0', () => {
  const out = createExposition()
  const family = { name: 'b_total', type: 'counter', help: 'one\ntwo \\ three', decimals: 9 } as const
  out.add(family, '{x="1"}', 1n, formatTimestamp(1_790_000_000_999_999_999n))
  out.add(
    { ...family, name: 'a', type: 'gauge', help: 'A.', decimals: 0 },
    '',
    2n ** 64n,
    formatTimestamp(0n),
  )
  out.add(family, '{x="2"}', 0n, '')
  expect(out.text()).toBe(
    '# HELP a A.\n# TYPE a gauge\na 18446744073709551616\n' +
      '# HELP b_total one\\ntwo \\\\ three\n# TYPE b_total counter\nb_total{x="1"} 0.000000001 1790000000999\nb_total{x="2"} 0\n',
  )
})

test('JSON prints every digit, leaves out what is undefined, and times without parts of a second', () => {
  expect(formatJson({ a: 18_446_744_073_709_551_615n, b: undefined, c: [null, 1.5, 'x"'], d: {} })).toBe(
    '{"a":18446744073709551615,"c":[null,1.5,"x\\""],"d":{}}',
  )
  expect(formatTime(1_790_000_000_999_999_999n)).toBe('2026-09-21T14:13:20Z')
  expect(formatTime(0n)).toBeNull()
})

test('an answer is encoded once for each sample', () => {
  let made = 0
  const answer = createSharedAnswer((a: object, b: number) => `${++made} ${JSON.stringify(a)} ${b}`)
  const sample = {}
  expect(answer(sample, 1)).toBe(answer(sample, 1))
  answer({}, 1)
  answer(sample, 2)
  expect(made).toBe(3)
})

describe('cgroups of containers', () => {
  const id = hexId('c', 5)
  test.each([
    [id, id],
    [`cri-containerd-${id}.scope`, id],
    [`crio-${id}.scope`, id],
    [`kubepods-pod1.slice:cri-containerd:${id}`, id],
    [`crio-conmon-${id}.scope`, undefined],
    ['init.scope', undefined],
  ])('%s', (name, found) => expect(containerIdOf(name)).toBe(found))

  test('the tree is walked only for ids that are new', () => {
    const walks: string[] = []
    const cgroups = {
      exists: () => true,
      walk: (path: string) => {
        walks.push(path)
        return [path, `/kubepods/pod${web.uid}/${web.containers[0]?.id}`]
      },
    }
    const locator = createCgroupLocator({ cgroups, podRoots: ['/kubepods'] })
    const inventory = buildInventory([sandboxOf(web)], containersOf(web), 1n)
    const [pod] = inventory.pods
    locator.refresh(inventory)
    expect(walks).toEqual(['/kubepods', '/'])
    expect(locator.container(web.containers[0]?.id ?? '')).toBe(
      `/kubepods/pod${web.uid}/${web.containers[0]?.id}`,
    )
    expect(pod && locator.pod(pod).pod).toBe(`/kubepods/pod${web.uid}`)
    walks.length = 0
    locator.refresh(inventory)
    // What a walk of everything did not find is looked for in the usual place only.
    expect(walks).toEqual(['/kubepods'])
  })
})

describe('which pods count', () => {
  const at = (id: string, createdAt: bigint, state: PodSandboxState) => ({
    ...sandboxOf(web),
    id,
    createdAt,
    state,
  })
  const { SANDBOX_READY: ready, SANDBOX_NOTREADY: ended } = PodSandboxState
  test.each([
    ['one, whatever its state', [at('a', 1n, ended)], ['a']],
    ['the ready ones of several', [at('a', 1n, ready), at('b', 2n, ended)], ['a']],
    ['the newest where none is ready', [at('a', 1n, ended), at('b', 2n, ended)], ['b']],
  ])('%s', (_name, sandboxes, kept) => {
    expect(buildInventory(sandboxes, [], 1n).pods.map((p) => p.sandboxId)).toEqual(kept)
  })
})

test('containers come in the order of the spec, in which they were created, not in that of the runtime', () => {
  const [pod] = buildInventory([sandboxOf(web)], containersOf(web).toReversed(), 1n).pods
  expect(pod?.containers.map((c) => c.name)).toEqual(web.containers.map((c) => c.name))
  expect(web.containers.length).toBeGreaterThan(1)
})

test('interfaces: no loopback, no ends of pairs; eth0 or the first is the default', () => {
  const dev = (name: string) => ({
    name,
    rxBytes: 0n,
    rxPackets: 0n,
    rxErrors: 0n,
    rxDropped: 0n,
    txBytes: 0n,
    txPackets: 0n,
    txErrors: 0n,
    txDropped: 0n,
  })
  const pick = (...names: string[]) => {
    const { defaultInterface, others } = networkValues(names.map(dev))
    return [defaultInterface?.name, others.map((o) => o.name)]
  }
  expect(pick('lo', 'net1', 'eth0', 'veth12', 'docker0')).toEqual(['eth0', ['net1']])
  expect(pick('lo', 'ens3', 'net1')).toEqual(['ens3', ['net1']])
  expect(pick('lo')).toEqual([undefined, []])
})

test('handlers of virtual machines, by the description of containerd', () => {
  const config = (runtimes: object, defaultRuntimeName = 'runc') =>
    JSON.stringify({ containerd: { defaultRuntimeName, runtimes } })
  const runc = { runtimeType: 'io.containerd.runc.v2' }
  const kata = { runtimeType: 'io.containerd.kata.v2' }
  expect([
    ...opaqueHandlers(config({ runc, kata, gvisor: { runtime_type: 'io.containerd.runsc.v1' } })),
  ]).toEqual(['kata', 'gvisor'])
  expect([...opaqueHandlers(config({ kata }, 'kata'))]).toEqual(['kata', ''])
  for (const odd of [undefined, '', '{', '[]', 'null', '{"containerd":3}'])
    expect(opaqueHandlers(odd).size).toBe(0)
})

test('switches: off by default, on by request, and off by request', () => {
  const { name } = families.container_tasks_state
  expect(decideSwitches().disabledFamilies).toEqual(new Set([name]))
  expect(decideSwitches({ enable: [name], disable: ['container_sockets'] }).disabledFamilies).toEqual(
    new Set(['container_sockets']),
  )
  expect(decideSwitches({ rows: { pods: false } }).rows).toEqual({ pods: false, slices: true, node: true })
})
