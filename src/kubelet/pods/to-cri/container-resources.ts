// cpu and memory of a container as the runtime is told, and whether a running one has them already. Pure.

import { containerUnified } from '../../../core/memory-qos/unified.js'
import { hugePageSizeName } from '../../../core/plan/hugetlb.js'
import { plannedValue } from '../../../core/plan/planned-value.js'
import type { ContainerPlan } from '../../../core/plan/pod-plan.js'
import type { Container } from '../../../core/pod/pod.js'
import { resourcesOf } from '../../../core/pod/pod.js'
import { sharesOfMilliCpu } from '../../../core/units/cpu.js'
import { quantityValue } from '../../../core/units/quantity.js'
import { milliCpuOf } from '../../../core/units/resource-list.js'
import type { ObservedResources } from '../decide/observed.js'

interface ResourceFacts {
  readonly cgroupVersion: 1 | 2
  readonly cpuPeriodUs: bigint
  readonly enforcesCpuQuota: boolean
}

/** Fields of CRI's LinuxContainerResources. */
export interface PlannedResources {
  readonly cpuShares: bigint
  readonly cpuPeriod: bigint
  readonly cpuQuota: bigint
  readonly memoryLimitInBytes: bigint
  readonly oomScoreAdj: bigint
  readonly hugepageLimits: { pageSize: string; limit: bigint }[]
  readonly unified: Readonly<Record<string, string>>
}

/** Every field of ours is always given: a runtime keeps what an update leaves out. */
export function containerResources(
  container: Container,
  plan: ContainerPlan,
  facts: ResourceFacts,
): PlannedResources {
  const { requests, limits } = resourcesOf(container)
  const [quota = 'max'] = (plannedValue(plan.files['cpu.max']) ?? 'max').split(' ')
  return {
    cpuShares: sharesOfMilliCpu(requests.has('cpu') ? milliCpuOf(requests) : milliCpuOf(limits)),
    cpuPeriod: facts.cpuPeriodUs,
    // -1 removes a quota; 0 would leave the one that is there.
    cpuQuota: quota === 'max' ? -1n : BigInt(quota),
    memoryLimitInBytes: plannedValue(plan.files['memory.max']) ?? 0n,
    oomScoreAdj: plannedValue(plan.oomScoreAdj) ?? 0n,
    hugepageLimits: hugepages(container),
    unified: containerUnified(plan.files, facts.cgroupVersion),
  }
}

/** `hugepages-2Mi` is `2MB` to the kernel. */
function hugepages(container: Container): { pageSize: string; limit: bigint }[] {
  return [...resourcesOf(container).limits].flatMap(([name, amount]) => {
    const [, size] = /^hugepages-(\d+(?:Ki|Mi|Gi))$/.exec(name) ?? []
    return size === undefined ? [] : [{ pageSize: hugePageSizeName(size), limit: quantityValue(amount) }]
  })
}

/** Undefined: the runtime does not report what the container has. */
export function hasResources(
  wanted: PlannedResources,
  actual: ObservedResources | undefined,
): boolean | undefined {
  if (actual === undefined) return undefined
  const quota = (n: bigint): bigint => (n <= 0n ? 0n : n)
  return (
    actual.cpuShares === wanted.cpuShares &&
    quota(actual.cpuQuota) === quota(wanted.cpuQuota) &&
    quota(actual.memoryLimit) === quota(wanted.memoryLimitInBytes)
  )
}
