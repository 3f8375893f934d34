// Kind `pod`: one pod on one node, its containers' and its own values, and its cgroup under both drivers.

import { formatCgroupfsPath, formatSystemdPath } from '../../../../src/core/cgroup/name.js'
import { cgroupParent, podCgroupName } from '../../../../src/core/cgroup/pod-cgroup.js'
import { type ContainerPlan, type PodFiles, planPod } from '../../../../src/core/plan/pod-plan.js'
import { applyPodDefaults } from '../../../../src/core/pod/defaults.js'
import { parsePod } from '../../../../src/core/pod/parse-pod.js'
import { bytes } from '../../../../src/core/units/bytes.js'
import { defaultCpuPeriodUs } from '../../../../src/core/units/cpu.js'
import { type Fields, fieldsAt } from '../../types.js'
import { asNumber, asText, bytesOf, cgroupRootOf, driverOf, settingsOf } from './settings.js'

export function runPod(input: Fields): Fields {
  const given = parsePod(input['pod'])
  const pod = input['applyApiDefaults'] === true ? applyPodDefaults(given) : given
  const node = fieldsAt(input, 'node')
  const plan = planPod({
    pod,
    memoryQos: settingsOf(input),
    allocatableMemory: bytesOf(node['allocatableMemory']) ?? bytes(0n),
    memoryCapacity: bytesOf(node['memoryCapacity']),
    pageSize: BigInt(Number(input['pageSize'] ?? 4096)),
    cpuQuota: { enforced: true, periodUs: defaultCpuPeriodUs },
    swap: { behavior: 'NoSwap', capacity: bytes(0n) },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'log-quadratic',
  })
  const name = podCgroupName(pod.uid, plan.qosClass, cgroupRootOf(input))
  return {
    qosClass: plan.qosClass,
    containers: Object.fromEntries(plan.containers.map((c) => [c.name, containerFields(c)])),
    pod: {
      cgroupfs: formatCgroupfsPath(name),
      systemd: formatSystemdPath(name),
      cgroupParent: cgroupParent(name, driverOf(input)),
      ...memoryFields(plan.files),
      'cpu.weight': asNumber(plan.files['cpu.weight']),
      'cpu.max': asText(plan.files['cpu.max']),
    },
  }
}

const containerFields = (c: ContainerPlan): Fields => ({
  ...memoryFields(c.files),
  oomScoreAdj: asNumber(c.oomScoreAdj),
})

const memoryFields = (files: PodFiles): Fields => ({
  'memory.min': asText(files['memory.min']),
  'memory.low': asText(files['memory.low']),
  'memory.high': asText(files['memory.high']),
  'memory.max': asText(files['memory.max']),
})
