// Kind `config`: the named fields as a KubeletConfiguration through the whole road: decode, default, validate.
import { loadConfig } from '../../../../src/config/load.js'
import type { Fields } from '../../types.js'

export function runConfig(input: Fields, expected: Fields): Fields {
  const { gate, ...fields } = input
  const document = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...(gate === undefined ? {} : { featureGates: { MemoryQoS: gate } }),
    ...fields,
  }
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  const { config, problems } = loadConfig({ kubelet: { path: 'config.yaml', bytes } })
  const texts = problems.map((p) => `${p.path}: ${p.message}; ${p.remedy}`)
  const wanted: readonly unknown[] = Array.isArray(expected['errorMentions']) ? expected['errorMentions'] : []
  return {
    valid: problems.length === 0,
    // What is mentioned, in the order of the vector: a missing text shows as a difference.
    errorMentions: wanted.filter((text) => texts.some((t) => t.includes(String(text)))),
    effective: {
      ...config.kubelet,
      kubeReservedCgroup: config.kubelet.kubeReservedCgroup ?? '',
      systemReservedCgroup: config.kubelet.systemReservedCgroup ?? '',
      memoryThrottlingFactor: config.memoryQos.factor ?? null,
      memoryReservationPolicy: config.memoryQos.policy,
    },
  }
}
