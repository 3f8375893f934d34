// The defaults that the API server fills in before a node sees a pod; static pods get them too.

import { fillResources, isPodLevelResource, type ResourceRequirements } from '../units/resource-list.js'
import type { Container, PodResources } from './pod.js'
import { containersTogether } from './resources.js'

/** Limits without requests mean requests equal to them: `limits: {memory: 1Gi}` alone ends Guaranteed. */
export function applyPodDefaults(pod: PodResources): PodResources {
  const withContainers: PodResources = {
    ...pod,
    initContainers: pod.initContainers.map(fillRequests),
    containers: pod.containers.map(fillRequests),
  }
  return { ...withContainers, resources: podLevelDefaults(withContainers) }
}

const fillRequests = (container: Container): Container => ({
  ...container,
  resources: {
    ...container.resources,
    requests: fillResources(container.resources.requests, container.resources.limits),
  },
})

function podLevelDefaults(pod: PodResources): ResourceRequirements | undefined {
  const given = pod.resources
  if (given === undefined || given.limits.size === 0) return given
  // Huge pages cannot be overcommitted, so the containers' sum is no default for them.
  const together = [...containersTogether(pod, 'requests')].filter(([n]) => n === 'cpu' || n === 'memory')
  const limits = [...given.limits].filter(([name]) => isPodLevelResource(name))
  const fallback = fillResources(new Map(together), new Map(limits))
  return { limits: given.limits, requests: fillResources(given.requests, fallback) }
}
