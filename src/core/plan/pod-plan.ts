// Every value that one pod leads to, at container and at pod level, with its reason. Plain data: reports print
// it, writers carry it out. Cgroup paths are in pod-cgroup.ts, the levels above in node-plan.ts.

import { containerMemoryHigh, podMemoryHigh } from '../memory-qos/high.js'
import { memoryProtection } from '../memory-qos/protection.js'
import type { MemoryQosSettings } from '../memory-qos/settings.js'
import type { QosClass } from '../pod/pod.js'
import {
  allContainers,
  type Container,
  type ContainerType,
  isCriticalPod,
  type PodResources,
  resourcesOf,
} from '../pod/pod.js'
import { hasPodLevelResources, qosClassOf } from '../pod/qos-class.js'
import { hasEveryMemoryLimit, podLevelMemoryLimit, podLimits, podRequests } from '../pod/resources.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { memoryOf } from '../units/resource-list.js'
import { cpuMax, podCpuMax, podCpuWeight, runtimeCpuWeight, type WeightCurve } from './cpu-files.js'
import { oomScoreAdj } from './oom-score-adj.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'
import { memorySwapMax, type SwapBehavior } from './swap.js'

export interface PodFiles {
  readonly 'memory.min': PlannedValue<Bytes>
  readonly 'memory.low': PlannedValue<Bytes>
  readonly 'memory.high': PlannedValue<Bytes>
  readonly 'memory.max': PlannedValue<Bytes>
  readonly 'cpu.weight': PlannedValue<bigint>
  readonly 'cpu.max': PlannedValue<string>
}

export interface ContainerFiles extends PodFiles {
  readonly 'memory.swap.max': PlannedValue<Bytes>
  readonly 'memory.oom.group': PlannedValue<bigint>
}

export interface ContainerPlan {
  readonly name: string
  readonly type: ContainerType
  readonly files: ContainerFiles
  readonly oomScoreAdj: PlannedValue<bigint>
}

export interface PodPlan {
  readonly qosClass: QosClass
  readonly files: PodFiles
  /** Init containers first, then app containers, then ephemeral ones. */
  readonly containers: readonly ContainerPlan[]
}

export interface PodPlanInput {
  readonly pod: PodResources
  readonly memoryQos: MemoryQosSettings
  /** The number for a missing limit; 0: unknown. */
  readonly allocatableMemory: Bytes
  readonly memoryCapacity: Bytes | undefined
  /** Base page size, never a huge page. */
  readonly pageSize: bigint
  readonly cpuQuota: { readonly enforced: boolean; readonly periodUs: bigint }
  readonly swap: { readonly behavior: SwapBehavior; readonly capacity: Bytes | undefined }
  readonly singleProcessOOMKill: boolean
  /** How the container runtime turns shares into cpu.weight. */
  readonly runtimeWeightCurve: WeightCurve
  /** Node-allocatable device claims by container name: they raise a memory limit that exists. */
  readonly claims?: ReadonlyMap<string, Bytes>
}

export function planPod(i: PodPlanInput): PodPlan {
  const qosClass = qosClassOf(i.pod)
  return {
    qosClass,
    files: planPodFiles(i, qosClass),
    containers: allContainers(i.pod).map((container) => planContainer(i, qosClass, container)),
  }
}

function planPodFiles(i: PodPlanInput, qosClass: QosClass): PodFiles {
  const { pod, memoryQos, pageSize } = i
  const request = memoryOf(podRequests(pod))
  const limit = memoryOf(podLimits(pod))
  return {
    ...memoryProtection(memoryQos, qosClass, request, 'pod'),
    'memory.high': podMemoryHigh({
      settings: memoryQos,
      qosClass,
      request,
      limit,
      pageSize,
      hasPodLevelResources: hasPodLevelResources(pod),
      hasEveryMemoryLimit: hasEveryMemoryLimit(pod),
    }),
    'memory.max': podMemoryMax(pod, qosClass, limit),
    'cpu.weight': podCpuWeight(pod, qosClass),
    'cpu.max': podCpuMax(pod, qosClass, i.cpuQuota),
  }
}

function podMemoryMax(pod: PodResources, qosClass: QosClass, limit: Bytes): PlannedValue<Bytes> {
  if (qosClass === 'BestEffort') return notWritten('best-effort', 'the pod is BestEffort')
  if (qosClass === 'Burstable' && !hasEveryMemoryLimit(pod)) {
    return notWritten('limits-incomplete', 'not every container of the pod has a memory limit')
  }
  if (limit === 0n) return notWritten('no-limit', 'the pod has no memory limit')
  return value(limit, 'limit', 'the memory limit of the pod with its overhead', `memory limit = ${limit}`)
}

function planContainer(i: PodPlanInput, qosClass: QosClass, container: Container): ContainerPlan {
  const { pod, memoryQos, pageSize } = i
  const { requests, limits } = resourcesOf(container)
  const request = memoryOf(requests)
  const limit = raisedLimit(memoryOf(limits), i.claims?.get(container.name))
  const podLevelLimit = podLevelMemoryLimit(pod)
  return {
    name: container.name,
    type: container.type,
    files: {
      ...memoryProtection(memoryQos, qosClass, request, 'container'),
      'memory.high': containerMemoryHigh({
        settings: memoryQos,
        qosClass,
        request,
        limit,
        podLevelLimit,
        allocatable: i.allocatableMemory,
        pageSize,
      }),
      'memory.max': containerMemoryMax(limit, podLevelLimit),
      'memory.swap.max': memorySwapMax({
        behavior: i.swap.behavior,
        cgroupVersion: memoryQos.cgroupVersion,
        qosClass,
        isCriticalPod: isCriticalPod(pod),
        request,
        limit,
        memoryCapacity: i.memoryCapacity,
        swapCapacity: i.swap.capacity,
      }),
      'memory.oom.group': memoryOomGroup(i),
      'cpu.weight': runtimeCpuWeight(requests, limits, i.runtimeWeightCurve),
      'cpu.max': cpuMax(limits, pod.resources?.limits, i.cpuQuota),
    },
    oomScoreAdj: oomScoreAdj(pod, qosClass, container, i.memoryCapacity),
  }
}

/** The class and a missing limit are not affected by claims. */
const raisedLimit = (limit: Bytes, claim: Bytes | undefined): Bytes =>
  limit > 0n && claim !== undefined ? bytes(limit + claim) : limit

function containerMemoryMax(limit: Bytes, podLevelLimit: Bytes): PlannedValue<Bytes> {
  if (limit > 0n) return value(limit, 'limit', 'the memory limit of the container', `memory limit = ${limit}`)
  if (podLevelLimit === 0n) return notWritten('no-limit', 'the container has no memory limit')
  return value(
    podLevelLimit,
    'pod-level-limit-applies',
    'the container has no memory limit, so the pod-level limit applies',
    `pod-level memory limit = ${podLevelLimit}`,
  )
}

function memoryOomGroup(i: PodPlanInput): PlannedValue<bigint> {
  if (i.memoryQos.cgroupVersion === 1) {
    return notWritten('cgroup-v1', 'memory.oom.group is a file of cgroup v2')
  }
  return i.singleProcessOOMKill
    ? notWritten('single-process-kill', 'singleProcessOOMKill is true')
    : value(1n, 'group-kill', 'a container that runs out of memory is killed as a whole')
}
