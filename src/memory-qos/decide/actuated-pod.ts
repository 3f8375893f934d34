// A Pod object as the node really runs it. After an in-place resize the spec holds what is wanted, and the status what the
// kubelet has carried out; values on the node follow the latter.

import { applyPodDefaults } from '../../core/pod/defaults.js'
import { type PodTeller, withOrigin } from '../../core/pod/origin.js'
import { parsePod } from '../../core/pod/parse-pod.js'
import type { PodResources } from '../../core/pod/pod.js'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Container name -> resources in force, from one of the status lists. */
function resourcesInForce(statuses: unknown): ReadonlyMap<string, Fields> {
  const found = new Map<string, Fields>()
  for (const entry of listOf(statuses)) {
    const status = fieldsOf(entry)
    const resources = fieldsOf(status?.['resources'])
    const name = status?.['name']
    // An empty object says nothing: kubelets before in-place resize leave the field empty.
    if (typeof name === 'string' && resources !== undefined && Object.keys(resources).length > 0)
      found.set(name, resources)
  }
  return found
}

/** Memory alone: the CPU of a status is read back from weights and has lost its exact amount. */
function withMemory(spec: Fields | undefined, inForce: Fields): Fields {
  const merge = (key: 'requests' | 'limits'): Fields => {
    const { memory: _, ...rest } = fieldsOf(spec?.[key]) ?? {}
    const memory = fieldsOf(inForce[key])?.['memory']
    return memory === undefined ? rest : { ...rest, memory }
  }
  return { ...spec, requests: merge('requests'), limits: merge('limits') }
}

function withStatus(containers: unknown, statuses: unknown): unknown {
  const inForce = resourcesInForce(statuses)
  return listOf(containers).map((entry) => {
    const container = fieldsOf(entry)
    const resources = inForce.get(String(container?.['name']))
    if (container === undefined || resources === undefined) return entry
    return { ...container, resources: withMemory(fieldsOf(container['resources']), resources) }
  })
}

/** The input is one Pod object of the API: `{metadata, spec, status}`. */
export function parseActuatedPod(input: unknown, teller: PodTeller = 'api'): PodResources {
  const pod = fieldsOf(input) ?? {}
  const spec = fieldsOf(pod['spec']) ?? {}
  const status = fieldsOf(pod['status']) ?? {}
  const podLevel = fieldsOf(status['resources'])
  const next = {
    ...spec,
    initContainers: withStatus(spec['initContainers'], status['initContainerStatuses']),
    containers: withStatus(spec['containers'], status['containerStatuses']),
    ...(podLevel === undefined || spec['resources'] === undefined
      ? {}
      : { resources: withMemory(fieldsOf(spec['resources']), podLevel) }),
  }
  return withOrigin(applyPodDefaults(parsePod({ ...pod, spec: next })), pod, teller)
}
