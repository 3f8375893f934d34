// Validation and effective values of the KubeletConfiguration fields that Memory QoS and node allocatable
// depend on. What a release knows and defaults to comes in as data.

import type { Problem } from '../units/problem.js'
import { parseReservationPolicy, type ReservationPolicy, reservationPolicies } from './settings.js'

/** As decoded, before any check; undefined: not given. */
export interface MemoryQosFields {
  /** An explicit null means: no memory.high. */
  readonly memoryThrottlingFactor?: unknown
  readonly memoryReservationPolicy?: unknown
  readonly enforceNodeAllocatable?: unknown
  readonly kubeReservedCgroup?: unknown
  readonly systemReservedCgroup?: unknown
  readonly cgroupsPerQOS?: unknown
}

export interface MemoryQosRules {
  /** The feature gate MemoryQoS as it is in effect. */
  readonly gate: boolean
  /** Used when the gate is on and the field is not given; undefined: no memory.high. */
  readonly defaultFactor: number | undefined
  /** Tolerated while the gate is off, because saved files have it: an earlier default. */
  readonly savedFactors: readonly number[]
  /** Undefined: this release does not know the field. */
  readonly policies: readonly ReservationPolicy[] | undefined
}

/** The KEP's: factor 0.9 once the gate is on, all three policies. */
export const kepMemoryQosRules = (gate: boolean): MemoryQosRules => ({
  gate,
  defaultFactor: 0.9,
  savedFactors: [0.9],
  policies: reservationPolicies,
})

export interface EffectiveMemoryQos {
  readonly factor: number | undefined
  readonly policy: ReservationPolicy
  /** Things that are accepted but should be changed. */
  readonly warnings: readonly Problem[]
}

export function validateMemoryQosFields(fields: MemoryQosFields, rules: MemoryQosRules): readonly Problem[] {
  return [
    ...factorProblems(fields.memoryThrottlingFactor, rules),
    ...policyProblems(fields.memoryReservationPolicy, rules),
    ...enforcementProblems(fields),
  ]
}

/** For fields without problems. A release without the policy field protects requests when the gate is on. */
export function effectiveMemoryQos(fields: MemoryQosFields, rules: MemoryQosRules): EffectiveMemoryQos {
  const given = fields.memoryThrottlingFactor
  const wanted = given === undefined ? rules.defaultFactor : typeof given === 'number' ? given : undefined
  const factor = rules.gate ? wanted : undefined
  if (rules.policies === undefined) {
    return { factor, policy: rules.gate ? 'HardReservation' : 'None', warnings: [] }
  }
  const named = typeof fields.memoryReservationPolicy === 'string' ? fields.memoryReservationPolicy : ''
  const parsed = parseReservationPolicy(named)
  const warnings = parsed?.alias === true ? [aliasWarning] : []
  return { factor, policy: parsed?.policy ?? 'None', warnings }
}

const aliasWarning: Problem = {
  path: 'memoryReservationPolicy',
  message: 'memoryReservationPolicy: Disabled is deprecated; use None',
  remedy: 'write None',
}

function factorProblems(factor: unknown, rules: MemoryQosRules): readonly Problem[] {
  if (factor === undefined || factor === null) return []
  const path = 'memoryThrottlingFactor'
  const problems: Problem[] = []
  if (typeof factor !== 'number' || !(factor > 0 && factor <= 1)) {
    problems.push({
      path,
      message: `${path} is ${show(factor)}, it must be a number greater than 0 and at most 1.0`,
      remedy: 'write for example 0.9, or 1.0 for no early throttling',
    })
  }
  if (!rules.gate && !rules.savedFactors.some((saved) => saved === factor)) {
    problems.push({
      path,
      message: `${path} is ${show(factor)} but the feature gate MemoryQoS is off`,
      remedy: 'set featureGates.MemoryQoS to true or remove the field',
    })
  }
  return problems
}

function policyProblems(policy: unknown, rules: MemoryQosRules): readonly Problem[] {
  if (policy === undefined || policy === null) return []
  const path = 'memoryReservationPolicy'
  if (rules.policies === undefined) {
    return [{ path, message: `${path} is not known to this Kubernetes version`, remedy: 'remove the field' }]
  }
  const parsed = typeof policy === 'string' ? parseReservationPolicy(policy) : undefined
  const problems: Problem[] = []
  if (parsed === undefined || !rules.policies.includes(parsed.policy)) {
    const valid = rules.policies.join(', ')
    problems.push({
      path,
      message: `${path} is ${show(policy)}, valid values are ${valid}`,
      remedy: `write one of ${valid}, in this spelling`,
    })
  }
  if (!rules.gate && parsed?.policy !== 'None') {
    problems.push({
      path,
      message: `${path} is ${show(policy)} but the feature gate MemoryQoS is off`,
      remedy: 'set featureGates.MemoryQoS to true, or write None',
    })
  }
  return problems
}

const enforceable = [
  'pods',
  'kube-reserved',
  'kube-reserved-compressible',
  'system-reserved',
  'system-reserved-compressible',
  'none',
] as const

const cgroupFields = {
  'kube-reserved': 'kubeReservedCgroup',
  'system-reserved': 'systemReservedCgroup',
} as const

function enforcementProblems(fields: MemoryQosFields): readonly Problem[] {
  const path = 'enforceNodeAllocatable'
  const given = fields.enforceNodeAllocatable ?? ['pods']
  if (!Array.isArray(given)) {
    return [{ path, message: `${path} is ${show(given)}, not a list`, remedy: 'write a list such as [pods]' }]
  }
  const names: readonly unknown[] = given
  const problems = names.flatMap((name, i) => entryProblems(name, i, names))
  if (names.includes('none') && names.length > 1) {
    problems.push({ path, message: `${path} has none beside other values`, remedy: 'leave none alone' })
  }
  for (const [plain, field] of Object.entries(cgroupFields)) {
    problems.push(...reservationProblems(names, plain, field, fields[field as keyof MemoryQosFields]))
  }
  if (fields.cgroupsPerQOS === false && names.some((name) => name !== 'none')) {
    problems.push({
      path,
      message: `${path} is ${show(names)} but cgroupsPerQOS is false`,
      remedy: 'set cgroupsPerQOS to true, or enforceNodeAllocatable to [none]',
    })
  }
  return problems
}

function entryProblems(name: unknown, index: number, names: readonly unknown[]): Problem[] {
  const path = `enforceNodeAllocatable[${index}]`
  if (!enforceable.some((known) => known === name)) {
    const message = `${path} is ${show(name)}, valid values are ${enforceable.join(', ')}`
    return [{ path, message, remedy: 'use one of the valid values' }]
  }
  if (names.indexOf(name) === index) return []
  return [{ path, message: `${path} repeats ${show(name)}`, remedy: 'name each value once' }]
}

function reservationProblems(
  names: readonly unknown[],
  plain: string,
  field: string,
  cgroup: unknown,
): Problem[] {
  const compressible = `${plain}-compressible`
  const path = 'enforceNodeAllocatable'
  const problems: Problem[] = []
  if (names.includes(plain) && names.includes(compressible)) {
    const message = `${path} has both ${plain} and ${compressible}`
    problems.push({ path, message, remedy: 'keep one of the two' })
  }
  const enforced = names.includes(plain) ? plain : names.includes(compressible) ? compressible : undefined
  if (enforced !== undefined && (typeof cgroup !== 'string' || cgroup === '')) {
    const message = `${field} is not set but enforceNodeAllocatable has ${enforced}`
    problems.push({ path: field, message, remedy: `set ${field} to the cgroup of these daemons` })
  }
  return problems
}

const show = (v: unknown): string => {
  const text = typeof v === 'number' || typeof v === 'bigint' ? String(v) : (JSON.stringify(v) ?? String(v))
  return text.slice(0, 80)
}
