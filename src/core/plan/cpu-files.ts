// cpu.weight and cpu.max of containers and pods, with the reason for each. The curves are in cpu.ts.

import type { PodResources, QosClass } from '../pod/pod.js'
import { hasEveryCpuLimit, podLimits, podRequests } from '../pod/resources.js'
import { linearWeight, logQuadraticWeight, quotaOfMilliCpu, sharesOfMilliCpu } from '../units/cpu.js'
import { milliCpuOf, type ResourceList } from '../units/resource-list.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'

/** `log-quadratic`: runc from 1.3.2 and crun. `linear`: older runtimes, and the kubelet itself always. */
export type WeightCurve = 'linear' | 'log-quadratic'

export interface CpuQuota {
  readonly enforced: boolean
  readonly periodUs: bigint
}

export function podCpuWeight(pod: PodResources, qosClass: QosClass): PlannedValue<bigint> {
  if (qosClass === 'BestEffort') return bestEffortWeight('the pod is BestEffort')
  return sharesWeight(milliCpuOf(podRequests(pod)), 'the CPU request of the pod')
}

export const bestEffortWeight = (reason: string): PlannedValue<bigint> =>
  value(1n, 'best-effort', reason, '2 shares -> weight 1')

/** `whose` starts the sentence: "the CPU request of the pod". */
export function sharesWeight(milliCpu: bigint, whose: string): PlannedValue<bigint> {
  const shares = sharesOfMilliCpu(milliCpu)
  const weight = linearWeight(shares)
  const formula = `1 + (${shares} - 2) x 9999 / 262142 = ${weight}`
  return value(weight, 'cpu-request', `${whose} (${milliCpu}m, ${shares} shares)`, formula)
}

/** The runtime gets shares and chooses the curve, so pod and container weights are not on one scale. */
export function runtimeCpuWeight(
  requests: ResourceList,
  limits: ResourceList,
  curve: WeightCurve,
): PlannedValue<bigint> {
  const milliCpu = requests.has('cpu') ? milliCpuOf(requests) : milliCpuOf(limits)
  if (curve === 'linear') return sharesWeight(milliCpu, 'the CPU request of the container')
  const shares = sharesOfMilliCpu(milliCpu)
  const weight = logQuadraticWeight(shares) ?? 1n
  return value(
    weight,
    'cpu-request',
    `the CPU request of the container (${milliCpu}m, ${shares} shares), on the runtime's curve`,
    `ceil(10^((l^2 + 125 l) / 612 - 7/34)), l = log2(${shares}) = ${weight}`,
  )
}

export function podCpuMax(pod: PodResources, qosClass: QosClass, quota: CpuQuota): PlannedValue<string> {
  if (qosClass === 'BestEffort') return notWritten('best-effort', 'the pod is BestEffort')
  if (qosClass === 'Burstable' && !hasEveryCpuLimit(pod)) {
    return notWritten('limits-incomplete', 'not every container of the pod has a CPU limit')
  }
  return quotaText(milliCpuOf(podLimits(pod)), quota, 'the CPU limit of the pod with its overhead')
}

export function cpuMax(
  limits: ResourceList,
  podLevelLimits: ResourceList | undefined,
  quota: CpuQuota,
): PlannedValue<string> {
  const own = milliCpuOf(limits)
  if (own > 0n || podLevelLimits === undefined) return quotaText(own, quota, 'the CPU limit of the container')
  return quotaText(milliCpuOf(podLevelLimits), quota, 'the CPU limit of the pod, for want of an own one')
}

function quotaText(milliCpu: bigint, quota: CpuQuota, reason: string): PlannedValue<string> {
  if (milliCpu === 0n) return notWritten('no-limit', 'there is no CPU limit')
  if (!quota.enforced) return value(`max ${quota.periodUs}`, 'quota-off', 'CPU quota enforcement is off')
  const quotaUs = quotaOfMilliCpu(milliCpu, quota.periodUs)
  const formula = `max(1000, ${milliCpu} x ${quota.periodUs} / 1000) = ${quotaUs}`
  return value(`${quotaUs} ${quota.periodUs}`, 'limit', `${reason} (${milliCpu}m)`, formula)
}
