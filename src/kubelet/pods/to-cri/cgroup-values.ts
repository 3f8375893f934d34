// From planned values to control files, for pods and for the cgroups above them, in the names of either cgroup version.

import { desiredText, type MemoryFile } from '../../../core/memory-qos/unified.js'
import type { NodePlan, QosFiles } from '../../../core/plan/node-plan.js'
import { type PlannedValue, plannedValue } from '../../../core/plan/planned-value.js'
import type { PodPlan } from '../../../core/plan/pod-plan.js'
import type { PodResources } from '../../../core/pod/pod.js'
import { podRequests } from '../../../core/pod/resources.js'
import { sharesOfMilliCpu } from '../../../core/units/cpu.js'
import { milliCpuOf } from '../../../core/units/resource-list.js'
import type { ControlValues } from '../../../ports/cgroups.js'

interface CgroupFacts {
  readonly version: 1 | 2
  readonly periodUs: bigint
  /** podPidsLimit; -1: none. */
  readonly pidsLimit: number
}

export function podCgroupValues(pod: PodResources, plan: PodPlan, facts: CgroupFacts): ControlValues {
  const { files } = plan
  const quota = plannedValue(files['cpu.max']) ?? `max ${facts.periodUs}`
  const pids: ControlValues = facts.pidsLimit > 0 ? { 'pids.max': String(facts.pidsLimit) } : {}
  if (facts.version === 1) {
    const [amount = 'max', period = String(facts.periodUs)] = quota.split(' ')
    const shares = plan.qosClass === 'BestEffort' ? 2n : sharesOfMilliCpu(milliCpuOf(podRequests(pod)))
    return {
      'cpu.shares': String(shares),
      'cpu.cfs_period_us': period,
      'cpu.cfs_quota_us': amount === 'max' ? '-1' : amount,
      'memory.limit_in_bytes': limitV1(files['memory.max']),
      ...pids,
    }
  }
  return {
    ...memoryValues(files, ['memory.min', 'memory.low', 'memory.high', 'memory.max']),
    'cpu.weight': String(plannedValue(files['cpu.weight']) ?? 1n),
    'cpu.max': quota,
    ...pids,
  }
}

const limitV1 = (outcome: PlannedValue<bigint>): string => plannedValue(outcome)?.toString() ?? '-1'

function memoryValues(
  files: Readonly<Partial<Record<MemoryFile, PlannedValue<bigint>>>>,
  names: readonly MemoryFile[],
): ControlValues {
  return Object.fromEntries(
    names.flatMap((name) => {
      const outcome = files[name]
      const text = outcome === undefined ? undefined : desiredText(name, outcome)
      return text === undefined ? [] : [[name, text] as const]
    }),
  )
}

/** kubepods and the two QoS cgroups. */
export function nodeCgroupValues(
  plan: NodePlan,
  version: 1 | 2,
  milliCpus: bigint,
): Readonly<Record<'kubepods' | 'burstable' | 'besteffort', ControlValues>> {
  const v1 = { kubepods: milliCpus, burstable: plan.sums.burstableMilliCpu, besteffort: 0n }
  const values = (files: QosFiles, level: keyof typeof v1): ControlValues => {
    if (version === 2)
      return {
        ...memoryValues(files, [
          'memory.min',
          'memory.low',
          ...(level === 'kubepods' ? ['memory.max' as const] : []),
        ]),
        'cpu.weight': String(plannedValue(files['cpu.weight']) ?? 1n),
      }
    const limit = level === 'kubepods' ? { 'memory.limit_in_bytes': limitV1(files['memory.max']) } : {}
    return { 'cpu.shares': String(level === 'besteffort' ? 2n : sharesOfMilliCpu(v1[level])), ...limit }
  }
  return {
    kubepods: values(plan.kubepods, 'kubepods'),
    burstable: values(plan.burstable, 'burstable'),
    besteffort: values(plan.besteffort, 'besteffort'),
  }
}
