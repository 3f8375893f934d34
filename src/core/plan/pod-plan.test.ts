import { describe, expect, test } from 'vitest'
import type { MemoryQosSettings, ReservationPolicy } from '../memory-qos/settings.js'
import { containerUnified } from '../memory-qos/unified.js'
import { parsePod } from '../pod/parse-pod.js'
import { bytes, GiB, MiB } from '../units/bytes.js'
import { plannedValue } from './planned-value.js'
import { type ContainerPlan, type PodPlanInput, planPod } from './pod-plan.js'

const memoryQos: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'TieredReservation',
}
const node: Omit<PodPlanInput, 'pod'> = {
  memoryQos,
  allocatableMemory: bytes(8n * GiB),
  memoryCapacity: bytes(9n * GiB),
  pageSize: 4096n,
  cpuQuota: { enforced: true, periodUs: 100_000n },
  swap: { behavior: 'NoSwap', capacity: bytes(0n) },
  singleProcessOOMKill: false,
  runtimeWeightCurve: 'log-quadratic',
}
const burstable = {
  name: 'app',
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '200m', memory: '256Mi' } },
}
const guaranteed = {
  name: 'app',
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
}
const plan = (spec: object, more: Partial<PodPlanInput> = {}) =>
  planPod({ ...node, pod: parsePod({ spec }), ...more })
const first = (spec: object, more: Partial<PodPlanInput> = {}): ContainerPlan => {
  const [container] = plan(spec, more).containers
  if (container === undefined) throw new Error('no container')
  return container
}
const policy = (p: ReservationPolicy) => ({ memoryQos: { ...memoryQos, policy: p } })

describe('memory.min and memory.low of container and pod', () => {
  for (const [name, spec, p, min, low] of [
    ['None', burstable, 'None', 0n, 0n],
    ['Hard, Burstable', burstable, 'HardReservation', 128n * MiB, 0n],
    ['Hard, Guaranteed', guaranteed, 'HardReservation', GiB, 0n],
    ['Tiered, Burstable', burstable, 'TieredReservation', 0n, 128n * MiB],
    ['Tiered, Guaranteed', guaranteed, 'TieredReservation', GiB, 0n],
    ['Tiered, BestEffort', { name: 'app' }, 'TieredReservation', 0n, 0n],
  ] as const) {
    test(name, () => {
      const { files, containers } = plan({ containers: [spec] }, policy(p))
      for (const f of [files, containers[0]?.files]) {
        expect([f?.['memory.min'], f?.['memory.low']].map((o) => o && plannedValue(o))).toEqual([min, low])
      }
    })
  }
  test('a BestEffort pod with overhead is protected by the amount of it, as upstream does', () => {
    const { files } = plan({ containers: [{ name: 'a' }], overhead: { memory: '8Mi' } })
    expect(plannedValue(files['memory.low'])).toBe(8n * MiB)
  })
})

test('a device claim raises a limit that exists, and only that', () => {
  const claims = new Map([['app', bytes(64n * MiB)]])
  expect(plannedValue(first({ containers: [burstable] }, { claims }).files['memory.max'])).toBe(320n * MiB)
  expect(
    plannedValue(first({ containers: [{ name: 'app' }] }, { claims }).files['memory.max']),
  ).toBeUndefined()
  expect(plannedValue(first({ containers: [burstable] }, { claims }).files['memory.high'])).toBe(
    ((128n * MiB + (192n * MiB * 9n) / 10n) / 4096n) * 4096n,
  )
})

describe('swap', () => {
  const limited = { swap: { behavior: 'LimitedSwap' as const, capacity: bytes(9n * GiB) } }
  const swapOf = (spec: object, more: Partial<PodPlanInput> = {}) =>
    plannedValue(first(spec, { ...limited, ...more }).files['memory.swap.max'])
  test('a share by request for Burstable', () => expect(swapOf({ containers: [burstable] })).toBe(128n * MiB))
  test('without a limit too', () => {
    expect(swapOf({ containers: [{ name: 'a', resources: { requests: { memory: '1Gi' } } }] })).toBe(GiB)
  })
  test('nothing for the others', () => {
    expect(swapOf({ containers: [guaranteed] })).toBe(0n)
    expect(swapOf({ containers: [{ name: 'a' }] })).toBe(0n)
    expect(swapOf({ containers: [burstable], priority: 2_000_000_001 })).toBe(0n)
    expect(swapOf({ containers: [{ name: 'a', resources: { limits: { memory: '1Gi' } } }] })).toBe(0n)
    const equal = { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } }
    expect(swapOf({ containers: [{ name: 'a', resources: equal }] })).toBe(0n)
    expect(swapOf({ containers: [burstable] }, { swap: { behavior: 'NoSwap', capacity: bytes(GiB) } })).toBe(
      0n,
    )
  })
  test('not written without a capacity to divide by, and on cgroup v1', () => {
    expect(swapOf({ containers: [burstable] }, { memoryCapacity: undefined })).toBeUndefined()
    expect(
      swapOf({ containers: [burstable] }, { memoryQos: { ...memoryQos, cgroupVersion: 1 } }),
    ).toBeUndefined()
  })
})

describe('cpu files', () => {
  test('pod and container weights are on two curves', () => {
    const { files, containers } = plan({ containers: [guaranteed] })
    expect(plannedValue(files['cpu.weight'])).toBe(39n)
    expect(containers[0] && plannedValue(containers[0].files['cpu.weight'])).toBe(100n)
    const linear = first({ containers: [guaranteed] }, { runtimeWeightCurve: 'linear' })
    expect(plannedValue(linear.files['cpu.weight'])).toBe(39n)
  })
  test('quota off means max, no limit means nothing', () => {
    const off = { cpuQuota: { enforced: false, periodUs: 100_000n } }
    expect(plannedValue(plan({ containers: [burstable] }, off).files['cpu.max'])).toBe('max 100000')
    expect(plan({ containers: [{ name: 'a' }] }).files['cpu.max']).toMatchObject({ code: 'best-effort' })
    expect(plan({ containers: [burstable, { name: 'b' }] }).files['cpu.max']).toMatchObject({
      code: 'limits-incomplete',
    })
  })
  test('a pod-level limit serves containers without one', () => {
    const spec = { containers: [{ name: 'a' }], resources: { limits: { cpu: '2', memory: '1Gi' } } }
    expect(plannedValue(first(spec).files['cpu.max'])).toBe('200000 100000')
  })
  test('a container with a limit alone gets the shares of its limit', () => {
    const container = first({ containers: [{ name: 'a', resources: { limits: { cpu: '1' } } }] })
    expect(plannedValue(container.files['cpu.weight'])).toBe(100n)
  })
})

describe('oom_score_adj', () => {
  const scores = (spec: object, more: Partial<PodPlanInput> = {}) =>
    Object.fromEntries(plan(spec, more).containers.map((c) => [c.name, plannedValue(c.oomScoreAdj)]))
  const of = (name: string, memory: string, more: object = {}) => ({
    name,
    resources: { requests: { memory } },
    ...more,
  })
  test('by request, inside 3 and 999', () => {
    expect(scores({ containers: [of('a', '1'), of('b', '9Gi'), of('c', '900Mi')] })).toEqual({
      a: 999n,
      b: 3n,
      c: 903n,
    })
  })
  test('a sidecar like the smallest app container, unless it requests more', () => {
    const sidecar = { restartPolicy: 'Always' }
    const spec = (memory: string) => ({
      initContainers: [of('s', memory, sidecar)],
      containers: [of('a', '900Mi'), of('b', '1800Mi')],
    })
    expect(scores(spec('1Mi'))['s']).toBe(903n)
    expect(scores(spec('1800Mi'))['s']).toBe(805n)
  })
  test('a pod-level request is shared out, sidecars included', () => {
    const spec = {
      initContainers: [of('s', '0', { restartPolicy: 'Always' })],
      containers: [of('a', '900Mi')],
      resources: { requests: { memory: '2700Mi' }, limits: { memory: '4Gi' } },
    }
    expect(scores(spec)).toEqual({ s: 805n, a: 805n })
  })
  test('unknown capacity', () => {
    expect(scores({ containers: [of('a', '1Gi')] }, { memoryCapacity: undefined })).toEqual({ a: undefined })
    expect(scores({ containers: [guaranteed] }, { memoryCapacity: undefined })).toEqual({ app: -997n })
  })
})

describe('the unified map is always complete', () => {
  const unified = (spec: object, more: Partial<PodPlanInput> = {}) => {
    const version = more.memoryQos?.cgroupVersion ?? 2
    return containerUnified(first(spec, more).files, version)
  }
  const rest = { 'memory.oom.group': '1', 'memory.swap.max': '0' }
  test('Burstable', () => {
    expect(unified({ containers: [burstable] })).toEqual({
      'memory.min': '0',
      'memory.low': '134217728',
      'memory.high': '255012864',
      ...rest,
    })
  })
  const cleared = { 'memory.min': '0', 'memory.low': '0', 'memory.high': 'max', ...rest }
  test('gate off clears', () => {
    expect(unified({ containers: [burstable] }, { memoryQos: { ...memoryQos, enabled: false } })).toEqual(
      cleared,
    )
  })
  test('no factor clears', () => {
    const s = { ...memoryQos, factor: undefined, policy: 'None' as const }
    expect(unified({ containers: [burstable] }, { memoryQos: s })).toEqual(cleared)
  })
  test('below a pod-level limit the key is left out; v1 has no map; single kill has no group', () => {
    const podLevel = { containers: [{ name: 'a' }], resources: { limits: { memory: '1Gi' } } }
    expect(unified(podLevel)).not.toHaveProperty(['memory.high'])
    expect(unified({ containers: [burstable] }, { memoryQos: { ...memoryQos, cgroupVersion: 1 } })).toEqual(
      {},
    )
    expect(unified({ containers: [burstable] }, { singleProcessOOMKill: true })).not.toHaveProperty([
      'memory.oom.group',
    ])
  })
})
