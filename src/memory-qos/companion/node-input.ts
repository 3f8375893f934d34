// What a companion plans from: the kubelet's settings, the machine, and its own policy and factor. Pure.

import { type CgroupDriver, formatCgroupPath } from '../../core/cgroup/name.js'
import { kubepodsName } from '../../core/cgroup/pod-cgroup.js'
import { keelsonError } from '../../core/errors.js'
import type { MemoryQosSettings, ReservationPolicy } from '../../core/memory-qos/settings.js'
import type { TargetsInput } from '../../core/memory-qos/targets.js'
import { allocatableMemory } from '../../core/plan/allocatable.js'
import type { Bytes } from '../../core/units/bytes.js'
import { defaultCpuPeriodUs } from '../../core/units/cpu.js'
import type { KubeletSettings } from '../decide/kubelet-settings.js'

interface CompanionPolicy {
  /** Null: no memory.high. */
  readonly factor: number | null
  readonly policy: ReservationPolicy
}

interface Machine {
  readonly memoryCapacity: Bytes
  readonly pageSize: bigint
  readonly cgroupVersion: 1 | 2
}

/** Running the companion is the opt-in, so there is no gate; the formula is that of 1.27 and later. */
function companionSettings(policy: CompanionPolicy, cgroupVersion: 1 | 2): MemoryQosSettings {
  const { factor } = policy
  if (factor !== null && !(factor > 0 && factor <= 1))
    throw keelsonError(
      'config.invalid',
      `companion.memoryThrottlingFactor is ${factor}, it must be a number greater than 0 and at most 1.0; write for example 0.9, or null for no memory.high`,
      { path: 'companion.memoryThrottlingFactor' },
    )
  return {
    enabled: true,
    cgroupVersion,
    generation: '1.27',
    factor: factor ?? undefined,
    policy: policy.policy,
  }
}

export function companionInput(
  kubelet: KubeletSettings,
  machine: Machine,
  driver: CgroupDriver,
  policy: CompanionPolicy,
): Omit<TargetsInput, 'pods'> {
  const { amounts, cgroups } = kubelet
  const allocatable = allocatableMemory({
    memoryCapacity: machine.memoryCapacity,
    kubeReserved: amounts['kube-reserved'],
    systemReserved: amounts['system-reserved'],
    memoryEviction: undefined,
  })
  return {
    memoryQos: companionSettings(policy, machine.cgroupVersion),
    driver,
    cgroupRoot: kubelet.cgroupRoot,
    cgroupsPerQOS: kubelet.cgroupsPerQOS,
    enforceNodeAllocatable: kubelet.enforceNodeAllocatable,
    reserved: { amounts, cgroups },
    node: {
      memoryCapacity: machine.memoryCapacity,
      allocatableMemory: allocatable.forFormula,
      pageSize: machine.pageSize,
      cpuQuota: { enforced: true, periodUs: defaultCpuPeriodUs },
      swap: { behavior: 'NoSwap', capacity: undefined },
      singleProcessOOMKill: false,
      runtimeWeightCurve: 'linear',
    },
  }
}

/** The tree itself is the best witness; the file counts only where there is no tree yet. */
export function decideCompanionDriver(
  kubelet: Pick<KubeletSettings, 'cgroupDriver' | 'cgroupRoot'>,
  exists: (path: string) => boolean,
): CgroupDriver {
  const name = kubepodsName(kubelet.cgroupRoot)
  const there = (['systemd', 'cgroupfs'] as const).filter((d) => exists(formatCgroupPath(name, d)))
  const [only, second] = there
  if (only !== undefined && second === undefined) return only
  return kubelet.cgroupDriver ?? only ?? 'cgroupfs'
}
