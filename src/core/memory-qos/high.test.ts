import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { formatPlannedValue, plannedValue } from '../plan/planned-value.js'
import { type Bytes, bytes, GiB, MiB } from '../units/bytes.js'
import { type ContainerHighInput, containerMemoryHigh, memoryHighFormula, podMemoryHigh } from './high.js'
import type { MemoryQosSettings } from './settings.js'

const on: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'None',
}
const base: ContainerHighInput = {
  settings: on,
  qosClass: 'Burstable',
  request: bytes(0n),
  limit: bytes(0n),
  podLevelLimit: bytes(0n),
  allocatable: bytes(8n * GiB),
  pageSize: 4096n,
}
const mib = (n: number): Bytes => bytes(BigInt(n) * MiB)
const factor = (f: number | undefined, generation: '1.22' | '1.27' = '1.27') => ({
  ...on,
  factor: f,
  generation,
})

describe("the KEP's tables, 1Mi pages", () => {
  const kep = { ...base, limit: mib(1000), pageSize: MiB }
  for (const [request, high] of [
    [0, 900],
    [100, 910],
    [200, 920],
    [300, 930],
    [400, 940],
    [500, 950],
    [600, 960],
    [700, 970],
    [800, 980],
    [900, 990],
  ] as const) {
    test(`request ${request}Mi, factor 0.9`, () => {
      expect(plannedValue(containerMemoryHigh({ ...kep, request: mib(request) }))).toBe(mib(high))
    })
  }
  // Two places where the KEP contradicts itself: request = limit, and 1.22 with the result at the request.
  for (const [request, f, old, current] of [
    [500, 0.6, 600, 800],
    [800, 0.6, 'not-above-request', 920],
    [1000, 0.6, 'request-equals-limit', 'request-equals-limit'],
    [1000, 0.9, 'request-equals-limit', 'request-equals-limit'],
    [500, 0.8, 800, 900],
    [800, 0.8, 'not-above-request', 960],
    [850, 0.8, 'not-above-request', 970],
    [500, 0.4, 'not-above-request', 700],
  ] as const) {
    test(`request ${request}Mi, factor ${f}: 1.22 and 1.27`, () => {
      for (const [generation, want] of [
        ['1.22', old],
        ['1.27', current],
      ] as const) {
        const got = containerMemoryHigh({ ...kep, request: mib(request), settings: factor(f, generation) })
        if (typeof want === 'number') expect(plannedValue(got)).toBe(mib(want))
        else expect(got).toMatchObject({ kind: 'not-written', code: want })
      }
    })
  }
})

describe('not written, and why', () => {
  for (const [name, input, code] of [
    ['gate off', { settings: { ...on, enabled: false } }, 'gate-off'],
    ['cgroup v1', { settings: { ...on, cgroupVersion: 1 } }, 'cgroup-v1'],
    ['no factor', { settings: factor(undefined) }, 'factor-unset'],
    ['Guaranteed by class', { qosClass: 'Guaranteed' }, 'pod-guaranteed'],
    ['request = limit', { request: mib(1), limit: mib(1) }, 'request-equals-limit'],
    ['no own limit below a pod-level one', { podLevelLimit: mib(1) }, 'pod-level-limit'],
    ['no limit and no allocatable', { allocatable: bytes(0n) }, 'allocatable-unknown'],
    ['request above allocatable', { request: bytes(9n * GiB) }, 'not-above-request'],
    ['request equals allocatable', { request: bytes(8n * GiB) }, 'not-above-request'],
    ['less than a page', { limit: bytes(100n) }, 'not-above-request'],
    ['request above its limit', { request: mib(2), limit: mib(1) }, 'not-above-request'],
    ['doubles above the limit', { limit: bytes(2n ** 62n + 4095n), settings: factor(1) }, 'above-limit'],
  ] as const) {
    test(name, () => {
      expect(containerMemoryHigh({ ...base, ...input } as ContainerHighInput)).toMatchObject({
        kind: 'not-written',
        code,
      })
    })
  }
})

test('the formula is printed with its numbers', () => {
  const input = { ...base, request: bytes(134217728n), limit: bytes(268435456n) }
  expect(containerMemoryHigh(input)).toMatchObject({
    value: 255012864n,
    formula: 'floor((134217728 + 0.9 x (268435456 - 134217728)) / 4096) x 4096 = 255012864',
  })
  expect(containerMemoryHigh({ ...input, settings: factor(0.8, '1.22') })).toMatchObject({
    value: 214748364n,
    formula: 'trunc(0.8 x 268435456) = 214748364',
  })
  expect(formatPlannedValue(containerMemoryHigh({ ...input, qosClass: 'Guaranteed' }))).toBe(
    'not written: the pod is Guaranteed',
  )
})

test('doubles, in the order of upstream: one page below the exact product', () => {
  const input = { ...base, limit: mib(45), settings: factor(0.7) }
  expect(plannedValue(containerMemoryHigh(input))).toBe(33026048n)
})

describe('pod level', () => {
  const pod = {
    ...base,
    request: mib(256),
    limit: mib(512),
    hasPodLevelResources: true,
    hasEveryMemoryLimit: true,
  }
  for (const [name, input, want] of [
    ['written with pod-level resources', {}, 510025728n],
    ['never without them', { hasPodLevelResources: false }, 'no-pod-level-resources'],
    ['a container without limit', { hasEveryMemoryLimit: false }, 'limits-incomplete'],
    ['request = limit', { request: mib(512) }, 'request-equals-limit'],
    ['Guaranteed', { qosClass: 'Guaranteed' }, 'pod-guaranteed'],
    ['no factor', { settings: factor(undefined) }, 'factor-unset'],
    ['formula 1.22', { settings: factor(0.8, '1.22') }, 'generation-without-pod-level'],
    ['gate off', { settings: { ...on, enabled: false } }, 'gate-off'],
  ] as const) {
    test(name, () => {
      const got = podMemoryHigh({ ...pod, ...input })
      expect(got.kind === 'value' ? got.value : got.code).toBe(want)
    })
  }
})

describe('properties', () => {
  const amount = fc.bigInt({ min: 0n, max: 2n ** 62n }).map(bytes)
  const anyFactor = fc.double({ min: 0.001, max: 1, noNaN: true })
  const page = fc.constantFrom(4096n, 16384n, 65536n)
  const generation = fc.constantFrom('1.22' as const, '1.27' as const)
  const runs = { numRuns: 5000 }

  test('what is written lies above the request and not above the limit', () => {
    let written = 0
    assertProperty(
      fc.property(amount, amount, anyFactor, page, generation, (request, limit, f, pageSize, g) => {
        const high = plannedValue(
          containerMemoryHigh({ ...base, request, limit, pageSize, settings: factor(f, g) }),
        )
        if (high === undefined) return
        written += 1
        const ceiling = limit > 0n ? limit : base.allocatable
        expect(high > request && high <= ceiling).toBe(true)
      }),
      runs,
    )
    expect(written).toBeGreaterThan(500)
  })

  test('monotone in the limit and in the factor', () => {
    assertProperty(
      fc.property(amount, amount, amount, anyFactor, page, generation, (request, a, b, f, pageSize, g) => {
        const [lower, upper] = a < b ? [a, b] : [b, a]
        const high = (ceiling: Bytes) =>
          memoryHighFormula({ generation: g, factor: f, request, ceiling, pageSize })
        expect(high(lower) <= high(upper)).toBe(true)
      }),
      runs,
    )
    assertProperty(
      fc.property(amount, amount, anyFactor, anyFactor, page, generation, (x, y, f, h, pageSize, g) => {
        const [request, ceiling] = x < y ? [x, y] : [y, x]
        const high = (k: number) =>
          memoryHighFormula({ generation: g, factor: k, request, ceiling, pageSize })
        expect(high(Math.min(f, h)) <= high(Math.max(f, h))).toBe(true)
      }),
      runs,
    )
  })
})
