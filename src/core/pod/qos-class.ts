// The QoS class of a pod: from its status if it is set there, else from pod-level resources, else from its
// init and app containers. Ephemeral containers never count.

import { compareQuantity, zeroQuantity } from '../units/quantity.js'
import { isPodLevelResource, type ResourceRequirements } from '../units/resource-list.js'
import type { PodResources, QosClass } from './pod.js'

export function qosClassOf(pod: PodResources): QosClass {
  // Resizing in place never changes the class, so a recorded one stays true.
  if (pod.qosClass !== undefined) return pod.qosClass
  if (pod.resources !== undefined && hasPodLevelResources(pod)) return classOfRequirements(pod.resources)
  const classes = new Set(
    [...pod.initContainers, ...pod.containers].map((container) => classOfRequirements(container.resources)),
  )
  if (classes.size === 0) return 'BestEffort'
  const [only] = classes
  return classes.size === 1 && only !== undefined ? only : 'Burstable'
}

/** An empty `spec.resources: {}` does not count. */
export function hasPodLevelResources(pod: PodResources): boolean {
  if (pod.resources === undefined) return false
  return [...pod.resources.requests.keys(), ...pod.resources.limits.keys()].some(isPodLevelResource)
}

/** Extended resources and ephemeral storage never matter: only cpu and memory are looked at. */
function classOfRequirements(resources: ResourceRequirements): QosClass {
  const cpu = classOfResource(resources, 'cpu')
  const memory = classOfResource(resources, 'memory')
  return cpu === memory ? cpu : 'Burstable'
}

function classOfResource({ requests, limits }: ResourceRequirements, name: 'cpu' | 'memory'): QosClass {
  const request = requests.get(name) ?? zeroQuantity
  if (compareQuantity(request, limits.get(name) ?? zeroQuantity) !== 0) return 'Burstable'
  return request.nanos === 0n ? 'BestEffort' : 'Guaranteed'
}
