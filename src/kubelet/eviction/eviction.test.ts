// The loop of eviction on a clock that the test moves: what it reads is scripted, so that stats can be stale, missing or late.
import { afterEach, describe, expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { parsePod } from '../../core/pod/parse-pod.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import type { PressureSample } from '../../stats/pressure.js'
import type { PodSample } from '../../stats/sample.js'
import { type EvictablePod, type EvictionOptions, startEviction } from './eviction.js'
import { createEvictionMetrics } from './eviction-metrics.js'

const MiB = 1024n ** 2n
const second = 1_000_000_000n
let ends = new AbortController()
afterEach(() => ends.abort())

const entry = (uid: string, more: object = {}): EvictablePod => ({
  pod: parsePod({
    metadata: { name: uid, uid, namespace: 'default' },
    spec: { containers: [{ name: 'app' }], ...more },
  }),
  volumes: undefined,
  graceSeconds: 30,
})

function podSample(uid: string, memoryBytes: bigint, timeNanos: bigint): PodSample {
  const memory = {
    timeNanos,
    availableBytes: undefined,
    usageBytes: memoryBytes,
    workingSetBytes: memoryBytes,
    rssBytes: memoryBytes,
    pageFaults: 0n,
    majorPageFaults: 0n,
    psi: undefined,
  }
  const usage = { cpu: undefined, memory, swap: undefined, io: undefined }
  const info = {
    sandboxId: uid,
    ref: { uid, name: uid, namespace: 'default' },
    containers: [],
    createdAtNanos: 0n,
    labels: {},
    runtimeHandler: '',
  }
  return {
    info: info as unknown as PodSample['info'],
    usage,
    network: undefined,
    processes: undefined,
    containers: [],
  }
}

/** A node whose memory and disk the test sets, with pods that end when they are killed. */
async function node(
  options: Partial<EvictionOptions> = {},
  pods: readonly EvictablePod[] = [entry('a'), entry('b')],
) {
  const clock = new FakeClock()
  const log = new FakeLog()
  const metrics = await createProcessMetrics({ processDefaults: false })
  const world = {
    availableMiB: 500n,
    diskMiB: 500n,
    podStatsAge: 0n,
    hasPodStats: true,
    uses: new Map([
      ['a', 100n],
      ['b', 200n],
    ]),
    running: [...pods],
    kills: [] as { uid: string; request: Parameters<EvictionOptions['pods']['kill']>[1] }[],
    reclaims: [] as string[],
    reclaimed: 0n,
    freedAfterMs: 0,
    reads: 0,
    events: [] as string[],
    onKill: (_uid: string) => {},
  }
  const fs = (bytes: bigint) => ({
    timeNanos: clock.nowNanos(),
    availableBytes: bytes,
    capacityBytes: 1000n * MiB,
    usedBytes: 1000n * MiB - bytes,
    inodes: 0n,
    inodesFree: 0n,
    inodesUsed: 0n,
  })
  const memory = () => {
    const available = world.availableMiB * MiB
    const whole = podSample('', 1000n * MiB - available, clock.nowNanos()).usage.memory
    return { node: whole && { ...whole, availableBytes: available }, pods: undefined }
  }
  const read = async (): Promise<PressureSample> => {
    world.reads += 1
    const at = clock.nowNanos() - world.podStatsAge * second
    const samples = world.running.map(({ pod }) =>
      podSample(pod.uid, (world.uses.get(pod.uid) ?? 0n) * MiB, at),
    )
    const disk = fs(world.diskMiB * MiB)
    return {
      memory: memory(),
      rlimit: undefined,
      layout: 'one',
      nodeFs: disk,
      imageFs: disk,
      containerFs: disk,
      pods: world.hasPodStats ? { source: 'cri', timeNanos: at, pods: samples, missing: 0 } : undefined,
      podFilesystems: {
        rootfs: () => undefined,
        logs: () => undefined,
        otherParts: () => [],
        volumes: () => [],
      },
    }
  }
  ends = new AbortController()
  const reclaim = (what: string) => async () => {
    world.reclaims.push(what)
    if (what === 'containers')
      void clock.sleep(world.freedAfterMs).then(() => (world.diskMiB += world.reclaimed))
    return world.reclaimed === 0n ? 0 : 1
  }
  const eviction = startEviction({
    thresholds: [{ signal: 'memory.available', value: '100Mi', graceMs: 0, minReclaim: undefined }],
    transitionMs: 300_000,
    maxPodGraceSeconds: 0,
    localStorageLimits: true,
    evictStaticPods: false,
    stats: { memory, read, refreshPods: async () => {}, measurePods: async () => {} },
    pods: {
      active: () => world.running,
      async kill(uid, request) {
        world.kills.push({ uid, request })
        await clock.sleep(100)
        world.running = world.running.filter(({ pod }) => pod.uid !== uid)
        world.onKill(uid)
      },
    },
    reclaim: { containers: reclaim('containers'), images: reclaim('images') },
    nodeEvent: ({ reason, message }) => world.events.push(`node ${reason}: ${message}`),
    podEvent: (pod, { reason }) => world.events.push(`${pod.uid} ${reason}`),
    metrics: createEvictionMetrics(metrics),
    clock,
    log,
    signal: ends.signal,
    ...options,
  })
  await clock.advance(0)
  return { clock, log, world, eviction, text: async () => (await metrics.text()).body }
}

test('memory runs short between two rounds: noticed within a second, the largest excess goes, one pod is enough', async () => {
  const { clock, world, eviction, text } = await node()
  await clock.advance(3_200)
  expect(world.reads).toBe(1)
  world.availableMiB = 93n
  world.onKill = () => {
    world.availableMiB = 400n
  }
  await clock.advance(1_000)
  expect(world.kills.map(({ uid, request }) => [uid, request.graceSeconds])).toEqual([['b', 1]])
  const [kill] = world.kills
  expect(kill?.request).toMatchObject({
    reason: 'Evicted',
    conditions: [{ type: 'DisruptionTarget', reason: 'TerminationByKubelet' }],
  })
  expect(kill?.request.message).toMatch(
    /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: 93Mi\. /,
  )
  expect(world.events).toEqual(['node EvictionThresholdMet: Attempting to reclaim memory', 'b Evicted'])
  expect(eviction.pressure()).toEqual({ memory: true, disk: false, pid: false })
  await clock.advance(60_000)
  expect(world.kills).toHaveLength(1)
  expect(await text()).toContain('kubelet_evictions{eviction_signal="memory.available"} 1')
  expect(await text()).toMatch(
    /kubelet_eviction_stats_age_seconds_count\{eviction_signal="memory.available"\} 1/,
  )
})

test('still short after the first: the second goes in the round that follows at once', async () => {
  const { clock, world } = await node()
  world.availableMiB = 50n
  await clock.advance(1_500)
  expect(world.kills.map(({ uid }) => uid)).toEqual(['b', 'a'])
})

describe('stats that cannot be trusted', () => {
  for (const [name, set] of [
    ['older than half a minute', (w: { podStatsAge: bigint }) => Object.assign(w, { podStatsAge: 31n })],
    ['missing', (w: { hasPodStats: boolean }) => Object.assign(w, { hasPodStats: false })],
  ] as const)
    test(`${name}: no pod is evicted, and the log and a metric say why`, async () => {
      const { clock, world, log, text, eviction } = await node()
      set(world)
      world.availableMiB = 50n
      await clock.advance(30_000)
      expect(world.kills).toEqual([])
      expect(eviction.pressure().memory).toBe(true)
      expect(log.lines.filter((l) => l.message.startsWith('no pod is evicted: the stats'))).toHaveLength(1)
      expect(await text()).toMatch(/keelson_evictions_skipped_total\{reason="stale-stats"\} [2-9]/)
    })

  test('a read that fails: nothing happens, and the log says so once', async () => {
    const read = async (): Promise<never> => {
      throw keelsonError('runtime.unavailable', 'no answer')
    }
    const nothing = async (): Promise<void> => {}
    const stats = { memory: () => undefined, read, refreshPods: nothing, measurePods: nothing }
    const { world, clock, log } = await node({ stats })
    await clock.advance(40_000)
    expect(world.kills).toEqual([])
    expect(log.lines.map((l) => l.message)).toEqual(['failed to look for a shortage of resources; retrying'])
  })
})

test('static and critical pods are never evicted; evictStaticPods allows static ones', async () => {
  const source = { annotations: { 'kubernetes.io/config.source': 'file' } }
  const fixed = {
    ...entry('b'),
    pod: parsePod({ metadata: { name: 'b', uid: 'b', ...source }, spec: { containers: [{ name: 'app' }] } }),
  }
  const pods = [entry('a', { priority: 2_000_000_000 }), fixed]
  const { clock, world, log } = await node({}, pods)
  world.availableMiB = 50n
  await clock.advance(30_000)
  expect(world.kills).toEqual([])
  expect(log.lines.filter((l) => l.message.startsWith('no pod can be evicted'))).toHaveLength(1)
  ends.abort()
  const opted = await node({ evictStaticPods: true }, pods)
  opted.world.availableMiB = 50n
  await opted.clock.advance(1_500)
  expect(opted.world.kills.map(({ uid }) => uid)).toEqual(['b'])
})

describe('disk', () => {
  const thresholds = [
    { signal: 'nodefs.available', value: '10%', graceMs: 0, minReclaim: undefined },
  ] as const
  test('dead containers and unused images go first, and no pod when that is enough', async () => {
    const { clock, world, eviction } = await node({ thresholds })
    world.diskMiB = 50n
    world.reclaimed = 100n
    await clock.advance(10_000)
    expect(world.reclaims).toEqual(['containers', 'images'])
    expect(world.kills).toEqual([])
    expect(eviction.pressure()).toEqual({ memory: false, disk: true, pid: false })
    await clock.advance(310_000)
    expect(eviction.pressure().disk).toBe(false)
  })
  test('space that the runtime frees a moment later costs no pod', async () => {
    const { clock, world } = await node({ thresholds })
    world.diskMiB = 50n
    world.reclaimed = 100n
    world.freedAfterMs = 1_000
    await clock.advance(13_000)
    expect(world.kills).toEqual([])
  })
  test('it is not enough: a pod goes', async () => {
    const { clock, world } = await node({ thresholds })
    world.diskMiB = 50n
    world.onKill = () => {
      world.diskMiB = 500n
    }
    await clock.advance(10_000)
    expect(world.kills).toHaveLength(1)
    expect(world.kills[0]?.request.message).toMatch(/^The node was low on resource: ephemeral-storage\. /)
  })
})

test('a soft threshold gives the pod at most evictionMaxPodGracePeriod', async () => {
  const soft = { signal: 'memory.available', value: '100Mi', graceMs: 20_000, minReclaim: undefined } as const
  const { clock, world } = await node({ thresholds: [soft], maxPodGraceSeconds: 12 })
  world.availableMiB = 50n
  await clock.advance(15_000)
  expect(world.kills).toEqual([])
  await clock.advance(20_000)
  expect(world.kills[0]?.request.graceSeconds).toBe(12)
})

test('a pod that does not end is waited for half a minute, and no longer', async () => {
  const { clock, world, log } = await node({
    pods: { active: () => [entry('a')], kill: () => new Promise(() => {}) },
  })
  world.running = [entry('a')]
  world.availableMiB = 50n
  await clock.advance(32_000)
  expect(log.lines.some((l) => l.message === 'an evicted pod does not end')).toBe(true)
})

test('a new pod under memory pressure is rejected when it asks for no memory', async () => {
  const { clock, world, eviction } = await node()
  const { pod } = entry('new')
  expect(eviction.rejects(pod, [])).toBeUndefined()
  world.availableMiB = 99n
  await clock.advance(1_000)
  expect(eviction.rejects(pod, [])).toEqual({
    reason: 'Evicted',
    message: 'The node had condition: [MemoryPressure]. ',
  })
})
