import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import { parsePod } from '../../../core/pod/parse-pod.js'
import type { PodResources } from '../../../core/pod/pod.js'
import type { PodUse } from './pod-usage.js'
import { rankPods } from './rank.js'
import { isEvictable } from './reclaim.js'

interface Made {
  readonly memory?: string
  readonly disk?: string
  readonly priority?: number
  readonly source?: string
}

function podOf(uid: string, { memory, disk, priority, source }: Made = {}): PodResources {
  const requests = {
    ...(memory === undefined ? {} : { memory }),
    ...(disk === undefined ? {} : { 'ephemeral-storage': disk }),
  }
  return parsePod({
    metadata: {
      name: uid,
      uid,
      ...(source === undefined ? {} : { annotations: { 'kubernetes.io/config.source': source } }),
    },
    spec: { priority, containers: [{ name: 'app', resources: { requests } }] },
  })
}

const MiB = 1024n ** 2n
const useOf = (uid: string, more: Partial<PodUse> = {}): PodUse => ({
  uid,
  memoryBytes: 0n,
  processes: 0n,
  containers: [],
  volumes: new Map(),
  ephemeralBytes: 0n,
  ...more,
})
const used = (uid: string, mib: bigint): PodUse => useOf(uid, { memoryBytes: mib * MiB })
const order = (
  pods: readonly PodResources[],
  uses: readonly PodUse[],
  ...more: [Parameters<typeof rankPods>[2], Parameters<typeof rankPods>[3]?]
) =>
  rankPods(
    pods.map((pod) => ({ pod })),
    new Map(uses.map((use) => [use.uid, use])),
    more[0],
    more[1] ?? 'one',
  ).map(({ pod }) => pod.uid)

describe('memory', () => {
  test('above its request before below, then the lower priority, then the larger excess', () => {
    const pods = [
      podOf('guaranteed', { memory: '500Mi' }),
      podOf('burstable-below', { memory: '200Mi', priority: -5 }),
      podOf('burstable-above', { memory: '100Mi' }),
      podOf('best-effort'),
      podOf('important', { priority: 1000 }),
    ]
    const uses = [
      used('guaranteed', 500n),
      used('burstable-below', 199n),
      used('burstable-above', 400n),
      used('best-effort', 250n),
      used('important', 900n),
    ]
    expect(order(pods, uses, 'memory.available')).toEqual([
      'burstable-above',
      'best-effort',
      'important',
      'burstable-below',
      'guaranteed',
    ])
  })

  test('a pod without values is not chosen: it may use nothing', () => {
    expect(order([podOf('unknown'), podOf('known')], [used('known', 1n)], 'memory.available')).toEqual([
      'known',
    ])
  })
})

describe('disk', () => {
  const files = (uid: string, rootfs: bigint, logs: bigint, volume: bigint): PodUse =>
    useOf(uid, {
      containers: [
        {
          name: 'app',
          memoryBytes: undefined,
          rootfs: { bytes: rootfs, inodes: rootfs },
          logs: { bytes: logs, inodes: logs },
        },
      ],
      volumes: new Map([['v', { bytes: volume, inodes: volume }]]),
    })
  const pods = [podOf('layer'), podOf('log'), podOf('volume')]
  const uses = [files('layer', 90n, 1n, 1n), files('log', 1n, 80n, 1n), files('volume', 2n, 1n, 70n)]

  test('one file system: everything counts', () => {
    expect(order(pods, uses, 'nodefs.available')).toEqual(['layer', 'log', 'volume'])
    expect(order(pods, uses, 'nodefs.inodesFree')).toEqual(['layer', 'log', 'volume'])
  })
  test('images apart: layers count on imagefs, logs and volumes on nodefs', () => {
    expect(order(pods, uses, 'nodefs.available', 'images')[0]).toBe('log')
    expect(order(pods, uses, 'imagefs.available', 'images')).toEqual(['layer', 'volume', 'log'])
    expect(order(pods, uses, 'containerfs.available', 'images')[0]).toBe('layer')
  })
  test('only images apart: layers count on nodefs', () => {
    expect(order(pods, uses, 'nodefs.available', 'split')).toEqual(['layer', 'log', 'volume'])
  })
  test('the request for ephemeral storage is what counts', () => {
    const asked = [podOf('asked', { disk: '100' }), podOf('small')]
    expect(
      order(asked, [files('asked', 99n, 0n, 0n), files('small', 1n, 0n, 0n)], 'nodefs.available'),
    ).toEqual(['small', 'asked'])
  })
})

test('processes: the lower priority, then more processes', () => {
  const pods = [podOf('few'), podOf('many'), podOf('low', { priority: -1 })]
  const uses = [useOf('few', { processes: 2n }), useOf('many', { processes: 9n }), useOf('low')]
  expect(order(pods, uses, 'pid.available')).toEqual(['low', 'many', 'few'])
})

describe('who may be evicted', () => {
  for (const [name, pod, plain, withStatic] of [
    ['an ordinary pod', podOf('p'), true, true],
    ['a static pod', podOf('p', { source: 'file' }), false, true],
    [
      'a static pod of critical priority',
      podOf('p', { source: 'file', priority: 2_000_000_000 }),
      false,
      false,
    ],
    ['a pod of critical priority', podOf('p', { priority: 2_000_001_000 }), false, false],
  ] as const)
    test(name, () => {
      expect(isEvictable(pod, false)).toBe(plain)
      expect(isEvictable(pod, true)).toBe(withStatic)
    })
})

describe('10,000 random nodes', () => {
  const made = fc.record({
    request: fc.bigInt(0n, 1000n),
    use: fc.bigInt(0n, 2000n),
    priority: fc.constantFrom(-10, 0, 10, 2_000_000_000),
    source: fc.constantFrom(undefined, 'api', 'file'),
  })
  const node = fc.array(made, { minLength: 1, maxLength: 12 })
  const build = (
    list: readonly { request: bigint; use: bigint; priority: number; source?: string | undefined }[],
  ) => ({
    pods: list.map(({ request, priority, source }, n) =>
      podOf(`p${n}`, { memory: String(request), priority, ...(source === undefined ? {} : { source }) }),
    ),
    uses: list.map(({ use }, n) => useOf(`p${n}`, { memoryBytes: use })),
  })

  test('never a critical or static pod; never one below its request while one above may go; never a higher priority first', () => {
    assertProperty(
      fc.property(node, (list) => {
        const { pods, uses } = build(list)
        const ids = order(pods, uses, 'memory.available')
        const of = (id: string) => list[Number(id.slice(1))] as (typeof list)[number]
        const isSafe = pods
          .filter((pod) => isEvictable(pod, false))
          .every((pod) => of(pod.uid).priority < 2_000_000_000 && of(pod.uid).source !== 'file')
        const isOrdered = ids.slice(1).every((id, n) => {
          const [before, after] = [of(ids[n] ?? ''), of(id)]
          const [aboveBefore, aboveAfter] = [before.use > before.request, after.use > after.request]
          return aboveBefore === aboveAfter ? before.priority <= after.priority : aboveBefore
        })
        return isSafe && isOrdered && new Set(ids).size === list.length
      }),
      { numRuns: 10_000 },
    )
  }, 60_000)

  test('a pod that uses more never moves back in the order', () => {
    assertProperty(
      fc.property(node, fc.nat(), fc.bigInt(1n, 500n), (list, pick, more) => {
        const at = pick % list.length
        const grown = list.map((p, n) => (n === at ? { ...p, use: p.use + more } : p))
        const place = (l: typeof list) => {
          const { pods, uses } = build(l)
          return order(pods, uses, 'memory.available').indexOf(`p${at}`)
        }
        return place(grown) <= place(list)
      }),
      { numRuns: 10_000 },
    )
  }, 60_000)
})
