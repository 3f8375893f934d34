// oom_score_adj of each container: who is killed first when the node runs out of memory.

import {
  type Container,
  isNodeCriticalPod,
  type PodResources,
  type QosClass,
  resourcesOf,
} from '../pod/pod.js'
import { containersTogether } from '../pod/resources.js'
import type { Bytes } from '../units/bytes.js'
import { memoryOf } from '../units/resource-list.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'

const protectedScore = -997n
const bestEffortScore = 1000n
// Burstable stays between: above a Guaranteed pod that uses all memory, below every BestEffort one.
const lowestBurstable = 3n
const highestBurstable = 999n

/** Capacity is the memory of the machine, not what is allocatable. Ephemeral containers count as requesting 0. */
export function oomScoreAdj(
  pod: PodResources,
  qosClass: QosClass,
  container: Container,
  memoryCapacity: Bytes | undefined,
): PlannedValue<bigint> {
  if (isNodeCriticalPod(pod)) return value(protectedScore, 'node-critical', 'the pod is node-critical')
  if (qosClass === 'Guaranteed') return value(protectedScore, 'pod-guaranteed', 'the pod is Guaranteed')
  if (qosClass === 'BestEffort') return value(bestEffortScore, 'best-effort', 'the pod is BestEffort')
  if (memoryCapacity === undefined || memoryCapacity === 0n) {
    return notWritten('capacity-unknown', 'the memory capacity of the node is unknown')
  }
  return burstableScore(pod, container, memoryCapacity)
}

function burstableScore(pod: PodResources, container: Container, capacity: Bytes): PlannedValue<bigint> {
  const share = podLevelShare(pod)
  const own = memoryOf(resourcesOf(container).requests) + share
  const smallest = smallestAppRequest(pod)
  // A sidecar must not be killed before the containers it serves.
  const isLifted = container.type === 'sidecar' && smallest !== undefined && smallest + share > own
  const counted = isLifted ? smallest + share : own
  const score = 1000n - (1000n * counted) / capacity
  const formula = `1000 - 1000 x ${counted} / ${capacity} = ${score}`
  if (score < lowestBurstable) {
    return value(lowestBurstable, 'clamped', `at least ${lowestBurstable} for Burstable`, formula)
  }
  if (score > highestBurstable) {
    return value(highestBurstable, 'clamped', `at most ${highestBurstable} for Burstable`, formula)
  }
  return isLifted
    ? value(score, 'sidecar', 'a sidecar counts at least like the smallest app container', formula)
    : value(score, 'formula', 'the more a Burstable container requests, the later it is killed', formula)
}

/** What the pod requests beyond its containers belongs to all of them in equal parts. */
function podLevelShare(pod: PodResources): bigint {
  const podLevel = pod.resources?.requests.get('memory')
  const count = BigInt(pod.containers.length + pod.initContainers.length)
  if (pod.resources === undefined || podLevel === undefined || count === 0n) return 0n
  const rest = memoryOf(pod.resources.requests) - memoryOf(containersTogether(pod, 'requests'))
  return rest > 0n ? rest / count : 0n
}

function smallestAppRequest(pod: PodResources): bigint | undefined {
  const requests = pod.containers.map((container) => memoryOf(container.resources.requests))
  return requests.reduce<bigint | undefined>(
    (least, r) => (least === undefined || r < least ? r : least),
    undefined,
  )
}
