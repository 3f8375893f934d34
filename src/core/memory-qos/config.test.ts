import { describe, expect, test } from 'vitest'
import {
  effectiveMemoryQos,
  kepMemoryQosRules,
  type MemoryQosFields,
  validateMemoryQosFields,
} from './config.js'

const on = kepMemoryQosRules(true)
const off = kepMemoryQosRules(false)
const paths = (fields: MemoryQosFields, rules = on) =>
  validateMemoryQosFields(fields, rules).map((p) => p.path)
const factor = (memoryThrottlingFactor: unknown) => ({ memoryThrottlingFactor })
const policy = (memoryReservationPolicy: unknown) => ({ memoryReservationPolicy })
const enforce = (enforceNodeAllocatable: unknown, more: object = {}) => ({ enforceNodeAllocatable, ...more })
const cgroups = { kubeReservedCgroup: '/kube', systemReservedCgroup: '/system' }

describe('accepted', () => {
  for (const [name, fields, rules] of [
    ['nothing', {}, on],
    ['nothing, gate off', {}, off],
    ['factor 1', factor(1), on],
    ['factor null', factor(null), on],
    ['the smallest factor', factor(Number.MIN_VALUE), on],
    ['the old default with the gate off', factor(0.9), off],
    ['empty policy', policy(''), off],
    ['None with the gate off', policy('None'), off],
    ['the alias with the gate off', policy('Disabled'), off],
    ['HardReservation', policy('HardReservation'), on],
    ['all enforced', enforce(['pods', 'kube-reserved', 'system-reserved-compressible'], cgroups), on],
    ['none, without QoS cgroups', enforce(['none'], { cgroupsPerQOS: false }), on],
    ['an empty list', enforce([], { cgroupsPerQOS: false }), on],
  ] as const) {
    test(name, () => expect(paths(fields, rules)).toEqual([]))
  }
})

describe('refused, every problem at once', () => {
  const f = 'memoryThrottlingFactor'
  const p = 'memoryReservationPolicy'
  const e = 'enforceNodeAllocatable'
  for (const [name, fields, rules, want] of [
    ['factor 0', factor(0), on, [f]],
    ['factor 1.1', factor(1.1), on, [f]],
    ['negative', factor(-0.5), on, [f]],
    ['NaN', factor(Number.NaN), on, [f]],
    ['infinite', factor(Number.POSITIVE_INFINITY), on, [f]],
    ['a text', factor('0.9'), on, [f]],
    ['a boolean', factor(true), on, [f]],
    ['gate off and out of range: both', factor(1.5), off, [f, f]],
    ['gate off and another factor', factor(0.8), off, [f]],
    ['unknown policy', policy('invalid'), on, [p]],
    ['case matters', policy('none'), on, [p]],
    ['a number as policy', policy(1), on, [p]],
    ['policy without gate', policy('TieredReservation'), off, [p]],
    ['a release without the field', policy('None'), { ...on, policies: undefined }, [p]],
    ['a release without this value', policy('HardReservation'), { ...on, policies: ['None'] }, [p]],
    ['no list', enforce('pods'), on, [e]],
    ['unknown entry', enforce(['pod']), on, [`${e}[0]`]],
    ['twice', enforce(['pods', 'pods']), on, [`${e}[1]`]],
    ['none with company', enforce(['none', 'pods']), on, [e]],
    ['plain and compressible', enforce(['kube-reserved', 'kube-reserved-compressible'], cgroups), on, [e]],
    ['no cgroup', enforce(['kube-reserved']), on, ['kubeReservedCgroup']],
    ['no cgroup, compressible', enforce(['system-reserved-compressible']), on, ['systemReservedCgroup']],
    ['the default without QoS cgroups', { cgroupsPerQOS: false }, on, [e]],
    ['several', { ...factor(2), ...policy('x'), ...enforce(['x']) }, on, [f, p, `${e}[0]`]],
  ] as const) {
    test(name, () => expect(paths(fields, rules as typeof on)).toEqual(want))
  }
  test('messages name the gate and the valid values', () => {
    const [gate] = validateMemoryQosFields(policy('TieredReservation'), off)
    expect(gate?.message).toContain('MemoryQoS')
    const [unknown] = validateMemoryQosFields(policy('x'), on)
    expect(unknown?.message).toContain('None, HardReservation, TieredReservation')
  })
})

describe('effective values', () => {
  for (const [name, fields, rules, want] of [
    ['gate on', {}, on, { factor: 0.9, policy: 'None' }],
    ['gate off', factor(0.9), off, { factor: undefined, policy: 'None' }],
    ['null is no throttling', factor(null), on, { factor: undefined, policy: 'None' }],
    ['the release default', {}, { ...on, defaultFactor: undefined }, { factor: undefined, policy: 'None' }],
    ['before the field', {}, { ...on, policies: undefined }, { factor: 0.9, policy: 'HardReservation' }],
    [
      'before the field, gate off',
      {},
      { ...off, policies: undefined },
      { factor: undefined, policy: 'None' },
    ],
    ['tiered', policy('TieredReservation'), on, { factor: 0.9, policy: 'TieredReservation' }],
  ] as const) {
    test(name, () => expect(effectiveMemoryQos(fields, rules)).toMatchObject(want))
  }
  test('the alias is stored as None, with a warning', () => {
    const effective = effectiveMemoryQos(policy('Disabled'), on)
    expect(effective.policy).toBe('None')
    expect(effective.warnings).toHaveLength(1)
    expect(effectiveMemoryQos(policy('None'), on).warnings).toEqual([])
  })
})
