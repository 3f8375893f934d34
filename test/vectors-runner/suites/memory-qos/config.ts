// Kind `config`: default, then validate the named KubeletConfiguration fields.
import {
  effectiveMemoryQos,
  kepMemoryQosRules,
  validateMemoryQosFields,
} from '../../../../src/core/memory-qos-config.js'
import { type Fields, isFields } from '../../types.js'

export function runConfig(input: Fields, expected: Fields): Fields {
  const rules = kepMemoryQosRules(input['gate'] === true)
  const problems = validateMemoryQosFields(input, rules)
  const effective = effectiveMemoryQos(input, rules)
  const texts = problems.map((p) => `${p.path}: ${p.message}; ${p.remedy}`)
  const wanted: readonly unknown[] = Array.isArray(expected['errorMentions']) ? expected['errorMentions'] : []
  return {
    valid: problems.length === 0,
    // What is mentioned, in the order of the vector: a missing text shows as a difference.
    errorMentions: wanted.filter((text) => texts.some((t) => t.includes(String(text)))),
    effective: {
      memoryThrottlingFactor: effective.factor ?? null,
      memoryReservationPolicy: effective.policy,
      ...otherFields(input, expected['effective']),
    },
  }
}

const defaults: Fields = {
  cgroupsPerQOS: true,
  enforceNodeAllocatable: ['pods'],
  kubeReservedCgroup: '',
  systemReservedCgroup: '',
}

function otherFields(input: Fields, effective: unknown): Fields {
  const named = isFields(effective)
    ? Object.keys(effective).filter((key) => Object.hasOwn(defaults, key))
    : []
  return Object.fromEntries(named.map((key) => [key, input[key] ?? defaults[key]]))
}
