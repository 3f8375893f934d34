// Kind `node`: several pods on one node, the cgroups above them, the reserved cgroups and the gauges.

import { formatCgroupPath } from '../../../../src/core/cgroup/name.js'
import { kubepodsName, qosCgroupName } from '../../../../src/core/cgroup/pod-cgroup.js'
import { allocatableMemory, defaultMemoryEviction } from '../../../../src/core/plan/allocatable.js'
import { type NodeGauges, planNode, type QosFiles } from '../../../../src/core/plan/node-plan.js'
import { planReservedCgroups } from '../../../../src/core/plan/reserved-cgroups.js'
import { parsePod, parseResourceList } from '../../../../src/core/pod/parse-pod.js'
import { type Bytes, bytes } from '../../../../src/core/units/bytes.js'
import { type Fields, fieldsAt, isFields } from '../../types.js'
import { asNumber, asText, bytesOf, cgroupRootOf, driverOf, setting, settingsOf } from './settings.js'

export function runNode(input: Fields): Fields {
  const node = fieldsAt(input, 'node')
  const memoryCapacity = bytesOf(node['memoryCapacity']) ?? bytes(0n)
  const enforce = enforcedNames(setting(input, 'enforceNodeAllocatable'))
  const kubeReserved = parseResourceList(setting(input, 'kubeReserved'), 'kubeReserved')
  const systemReserved = parseResourceList(setting(input, 'systemReserved'), 'systemReserved')
  const memoryEviction = evictionText(setting(input, 'evictionHard'))
  const allocatable = allocatableMemory({ memoryCapacity, kubeReserved, systemReserved, memoryEviction })
  const memoryQos = settingsOf(input)
  const pods: readonly unknown[] = Array.isArray(input['pods']) ? input['pods'] : []
  const plan = planNode({
    pods: pods.map(parsePod),
    memoryQos,
    cgroupsPerQOS: setting(input, 'cgroupsPerQOS') !== false,
    enforcesPods: enforce.includes('pods'),
    memoryCapacity,
    allocatableMemory: allocatable.forFormula,
  })
  const driver = driverOf(input)
  const root = cgroupRootOf(input)
  const reserved = planReservedCgroups({
    enforceNodeAllocatable: enforce,
    amounts: { 'kube-reserved': kubeReserved, 'system-reserved': systemReserved },
    cgroups: {
      'kube-reserved': String(setting(input, 'kubeReservedCgroup') ?? ''),
      'system-reserved': String(setting(input, 'systemReservedCgroup') ?? ''),
    },
    driver,
    memoryQos,
  })
  return {
    kubepods: qosFields(plan.kubepods),
    burstable: qosFields(plan.burstable),
    besteffort: qosFields(plan.besteffort),
    allocatableForFormula: `${allocatable.forFormula}`,
    nodeStatusAllocatable: `${allocatable.nodeStatus}`,
    reserved: Object.fromEntries(
      reserved.map((r) => [
        r.reservation,
        {
          cgroup: formatCgroupPath(r.cgroup, driver),
          'memory.max': asText(r.files['memory.max']),
          'memory.min': asText(r.files['memory.min']),
        },
      ]),
    ),
    metrics: gaugeFields(plan.gauges),
    paths: {
      kubepods: formatCgroupPath(kubepodsName(root), driver),
      burstable: formatCgroupPath(qosCgroupName(root, 'Burstable'), driver),
      besteffort: formatCgroupPath(qosCgroupName(root, 'BestEffort'), driver),
    },
  }
}

const enforcedNames = (v: unknown): readonly string[] => (Array.isArray(v) ? v.map(String) : ['pods'])

function evictionText(v: unknown): string | undefined {
  if (!isFields(v)) return defaultMemoryEviction
  const threshold = v['memory.available']
  return typeof threshold === 'string' ? threshold : undefined
}

const qosFields = (files: QosFiles): Fields => ({
  'memory.min': asText(files['memory.min']),
  'memory.low': asText(files['memory.low']),
  'memory.max': asText(files['memory.max']),
  'cpu.weight': asNumber(files['cpu.weight']),
})

const gaugeFields = (gauges: NodeGauges | undefined): Fields =>
  Object.fromEntries(
    Object.entries(gauges ?? {}).map(([name, amount]: [string, Bytes]) => [name, Number(amount)]),
  )
