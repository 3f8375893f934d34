import { describe, expect, test } from 'vitest'
import type { MemoryQosSettings } from '../memory-qos/settings.js'
import { parsePod, parseResourceList } from '../pod/parse-pod.js'
import { bytes, GiB, MiB } from '../units/bytes.js'
import { type NodePlanInput, planNode, sumRequests } from './node-plan.js'
import { plannedValue } from './planned-value.js'
import { planReservedCgroups, type ReservedInput, unprotectedAncestors } from './reserved-cgroups.js'

const pod = (requests: object, limits: object = {}, phase = 'Running', more: object = {}) =>
  parsePod({
    spec: { containers: [{ name: 'a', resources: { requests, limits } }], ...more },
    status: { phase },
  })
const g = { cpu: '1', memory: '128Mi' }
const pods = [pod(g, g), pod({ cpu: '1', memory: '128Mi' }), pod({ cpu: '2', memory: '256Mi' }), pod({})]
const memoryQos: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'TieredReservation',
}
const node: NodePlanInput = {
  pods,
  memoryQos,
  cgroupsPerQOS: true,
  enforcesPods: true,
  memoryCapacity: bytes(16n * GiB),
  allocatableMemory: bytes(15n * GiB),
}

describe('protection above the pods', () => {
  for (const [policy, kubepods, burstable, gauges] of [
    ['None', [0n, 0n], [0n, 0n], [0n, 0n]],
    ['HardReservation', [512n, 0n], [384n, 0n], [512n, 0n]],
    ['TieredReservation', [512n, 384n], [0n, 384n], [128n, 384n]],
  ] as const) {
    test(policy, () => {
      const plan = planNode({ ...node, memoryQos: { ...memoryQos, policy } })
      const of = (level: 'kubepods' | 'burstable') => {
        const files = plan[level]
        return [files['memory.min'], files['memory.low']].map((o) => (plannedValue(o) ?? -1n) / MiB)
      }
      expect([of('kubepods'), of('burstable')]).toEqual([kubepods, burstable])
      expect(Object.values(plan.gauges ?? {}).map((n: bigint) => n / MiB)).toEqual(gauges)
      expect(plannedValue(plan.burstable['cpu.weight'])).toBe(118n)
    })
  }
  test('gate off and cgroup v1: nothing, and no gauges', () => {
    for (const [s, code] of [
      [{ ...memoryQos, enabled: false }, 'gate-off'],
      [{ ...memoryQos, cgroupVersion: 1 }, 'cgroup-v1'],
    ] as const) {
      const plan = planNode({ ...node, memoryQos: s })
      expect(plan.gauges).toBeUndefined()
      expect(plan.kubepods['memory.min']).toMatchObject({ kind: 'not-written', code })
    }
  })
  test('no QoS cgroups at all', () => {
    expect(planNode({ ...node, cgroupsPerQOS: false }).kubepods['memory.max']).toMatchObject({
      code: 'cgroups-per-qos-off',
    })
  })
})

test('memory.max of kubepods', () => {
  expect(plannedValue(planNode(node).kubepods['memory.max'])).toBe(15n * GiB)
  expect(plannedValue(planNode({ ...node, enforcesPods: false }).kubepods['memory.max'])).toBe(16n * GiB)
  expect(plannedValue(planNode({ ...node, kubepodsMilliCpu: 2000n }).kubepods['cpu.weight'])).toBe(79n)
})

test('sums: each pod rounded first, terminated and BestEffort pods not counted, overhead counted', () => {
  const half = { memory: '500m' }
  expect(sumRequests([pod(half), pod(half)]).burstable).toBe(2n)
  expect(sumRequests([pod(g, g, 'Succeeded'), pod(g, {}, 'Failed')])).toMatchObject({
    guaranteed: 0n,
    burstable: 0n,
  })
  expect(sumRequests([pod(g, g, 'Running', { overhead: { memory: '1Mi' } })]).guaranteed).toBe(129n * MiB)
  expect(sumRequests([pod({}, {}, 'Running', { overhead: { memory: '1Mi' } })]).burstable).toBe(0n)
})

describe('reserved cgroups', () => {
  const input: ReservedInput = {
    enforceNodeAllocatable: ['pods', 'kube-reserved', 'system-reserved-compressible'],
    amounts: {
      'kube-reserved': parseResourceList({ memory: '1Gi', cpu: '1' }, 'kubeReserved'),
      'system-reserved': parseResourceList({ memory: '512Mi' }, 'systemReserved'),
    },
    cgroups: {
      'kube-reserved': '/podruntime.slice/podruntime-kube.slice',
      'system-reserved': '/system.slice',
    },
    driver: 'systemd',
    memoryQos: { ...memoryQos, policy: 'None' },
  }
  const values = (i: ReservedInput) =>
    planReservedCgroups(i).map((r) => [
      r.reservation,
      r.cgroup,
      plannedValue(r.files['memory.min']),
      plannedValue(r.files['memory.max']),
      plannedValue(r.files['cpu.weight']),
    ])
  test('whatever the policy; compressible sets CPU only; system first', () => {
    expect(values(input)).toEqual([
      ['system-reserved', ['system'], undefined, undefined, undefined],
      ['kube-reserved', ['podruntime', 'kube'], GiB, GiB, 39n],
    ])
  })
  test('gate off writes a zero, v1 nothing', () => {
    const off = { ...input, memoryQos: { ...memoryQos, enabled: false } }
    expect(values(off)[1]?.slice(2, 4)).toEqual([0n, GiB])
    const v1 = { ...input, memoryQos: { ...memoryQos, cgroupVersion: 1 as const } }
    expect(values(v1)[1]?.slice(2, 4)).toEqual([undefined, GiB])
  })
  test('not enforced, or without memory', () => {
    expect(planReservedCgroups({ ...input, enforceNodeAllocatable: ['pods'] })).toEqual([])
    const amounts = { ...input.amounts, 'kube-reserved': parseResourceList({ cpu: '1' }, 'kubeReserved') }
    expect(values({ ...input, amounts })[1]?.slice(2, 4)).toEqual([undefined, undefined])
  })
  test('ancestors that nobody protects', () => {
    expect(unprotectedAncestors(['podruntime', 'kube'])).toEqual([['podruntime']])
    expect(unprotectedAncestors(['system'])).toEqual([])
  })
})
