// What a pod asks for and may use as a whole: its containers together, pod-level resources, overhead.
// Sums stay exact; rounding to bytes or thousandths happens once, where the caller reads the result.

import { addQuantity } from '../units/quantity.js'
import {
  addResources,
  fillResources,
  isPodLevelResource,
  maxResources,
  memoryOf,
  milliCpuOf,
  noResources,
  type ResourceList,
} from '../units/resource-list.js'
import type { Container, PodResources } from './pod.js'

type Part = 'requests' | 'limits'

/** A pod-level request replaces the containers' for that resource; overhead comes on top. */
export const podRequests = (pod: PodResources): ResourceList =>
  addResources(withPodLevel(pod, 'requests'), pod.overhead)

/** Overhead is added only where a limit exists: adding it to none would create one. */
export function podLimits(pod: PodResources): ResourceList {
  const limits = new Map(withPodLevel(pod, 'limits'))
  for (const [name, overhead] of pod.overhead) {
    const limit = limits.get(name)
    if (limit !== undefined && limit.nanos !== 0n) limits.set(name, addQuantity(limit, overhead))
  }
  return limits
}

/** The containers together, before pod-level resources and overhead. */
export function containersTogether(pod: PodResources, part: Part): ResourceList {
  let running = sum(pod.containers, part)
  let sidecars: ResourceList = noResources
  let largestStep: ResourceList = noResources
  for (const container of pod.initContainers) {
    const own = container.resources[part]
    if (container.type === 'sidecar') {
      running = addResources(running, own)
      sidecars = addResources(sidecars, own)
      largestStep = maxResources(largestStep, sidecars)
    } else {
      // A plain init container runs alone beside the sidecars that were started before it.
      largestStep = maxResources(largestStep, addResources(own, sidecars))
    }
  }
  return maxResources(running, largestStep)
}

function withPodLevel(pod: PodResources, part: Part): ResourceList {
  const together = containersTogether(pod, part)
  if (pod.resources === undefined) return together
  const podLevel = [...pod.resources[part]].filter(([name]) => isPodLevelResource(name))
  return fillResources(new Map(podLevel), together)
}

const sum = (containers: readonly Container[], part: Part): ResourceList =>
  containers.reduce<ResourceList>((total, c) => addResources(total, c.resources[part]), noResources)

export const podLevelMemoryLimit = (pod: PodResources) => memoryOf(pod.resources?.limits ?? noResources)
export const podLevelMilliCpuLimit = (pod: PodResources) => milliCpuOf(pod.resources?.limits ?? noResources)

/** One container without a limit may use what it likes, so the pod as a whole has none either. */
export const hasEveryMemoryLimit = (pod: PodResources): boolean =>
  podLevelMemoryLimit(pod) > 0n || everyLimit(pod, (limits) => memoryOf(limits))

export const hasEveryCpuLimit = (pod: PodResources): boolean =>
  podLevelMilliCpuLimit(pod) > 0n || everyLimit(pod, (limits) => milliCpuOf(limits))

function everyLimit(pod: PodResources, amount: (limits: ResourceList) => bigint): boolean {
  const counted = [...pod.initContainers, ...pod.containers]
  return counted.length > 0 && counted.every((container) => amount(container.resources.limits) > 0n)
}
