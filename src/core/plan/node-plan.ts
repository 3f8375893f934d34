// The cgroups above the pods: kubepods and the two QoS cgroups, from the sums of the pods' requests, and the
// gauges that report those sums. Reserved cgroups are in reserved-cgroups.ts.

import { type MemoryQosSettings, whyMemoryQosIsOff } from '../memory-qos/settings.js'
import { isTerminated, type PodResources } from '../pod/pod.js'
import { qosClassOf } from '../pod/qos-class.js'
import { podRequests } from '../pod/resources.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { memoryOf, milliCpuOf } from '../units/resource-list.js'
import { bestEffortWeight, sharesWeight } from './cpu-files.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'

export interface QosFiles {
  readonly 'memory.min': PlannedValue<Bytes>
  readonly 'memory.low': PlannedValue<Bytes>
  readonly 'memory.max': PlannedValue<Bytes>
  readonly 'cpu.weight': PlannedValue<bigint>
}

export interface RequestSums {
  readonly guaranteed: Bytes
  readonly burstable: Bytes
  readonly burstableMilliCpu: bigint
}

export interface NodePlanInput {
  readonly pods: readonly PodResources[]
  readonly memoryQos: MemoryQosSettings
  readonly cgroupsPerQOS: boolean
  /** Whether enforceNodeAllocatable names `pods`. */
  readonly enforcesPods: boolean
  readonly memoryCapacity: Bytes
  /** allocatable.ts, forFormula. */
  readonly allocatableMemory: Bytes
  /** Thousandths of a core that kubepods may have; undefined: unknown. */
  readonly kubepodsMilliCpu?: bigint
}

export interface NodePlan {
  readonly sums: RequestSums
  readonly kubepods: QosFiles
  readonly burstable: QosFiles
  readonly besteffort: QosFiles
  /** Undefined: not exported, because Memory QoS is off. */
  readonly gauges: NodeGauges | undefined
}

export interface NodeGauges {
  readonly kubelet_memory_qos_node_memory_min_bytes: Bytes
  readonly kubelet_memory_qos_node_memory_low_bytes: Bytes
}

/** Each pod is rounded to whole bytes first, then pods are added. Terminated pods are gone. */
export function sumRequests(pods: readonly PodResources[]): RequestSums {
  let guaranteed = 0n
  let burstable = 0n
  let burstableMilliCpu = 0n
  for (const pod of pods) {
    const qosClass = isTerminated(pod) ? 'BestEffort' : qosClassOf(pod)
    if (qosClass === 'BestEffort') continue
    const requests = podRequests(pod)
    if (qosClass === 'Guaranteed') {
      guaranteed += memoryOf(requests)
    } else {
      burstable += memoryOf(requests)
      burstableMilliCpu += milliCpuOf(requests)
    }
  }
  return { guaranteed: bytes(guaranteed), burstable: bytes(burstable), burstableMilliCpu }
}

export function planNode(i: NodePlanInput): NodePlan {
  const sums = sumRequests(i.pods)
  const gauges = nodeGauges(i.memoryQos, sums)
  if (!i.cgroupsPerQOS) {
    const gone = notWritten('cgroups-per-qos-off', 'cgroupsPerQOS is false')
    const files = { 'memory.min': gone, 'memory.low': gone, 'memory.max': gone, 'cpu.weight': gone }
    return { sums, kubepods: files, burstable: files, besteffort: files, gauges }
  }
  return { sums, ...planTree(i, sums), gauges }
}

function planTree(
  i: NodePlanInput,
  sums: RequestSums,
): Pick<NodePlan, 'kubepods' | 'burstable' | 'besteffort'> {
  const unlimited = notWritten('no-limit', 'QoS cgroups have no memory limit')
  return {
    kubepods: {
      ...kubepodsProtection(i.memoryQos, sums),
      'memory.max': kubepodsMemoryMax(i),
      'cpu.weight':
        i.kubepodsMilliCpu === undefined
          ? notWritten('capacity-unknown', 'the number of CPUs is unknown')
          : sharesWeight(i.kubepodsMilliCpu, 'the CPU that pods may have'),
    },
    burstable: {
      ...burstableProtection(i.memoryQos, sums),
      'memory.max': unlimited,
      'cpu.weight': sharesWeight(sums.burstableMilliCpu, 'the CPU requests of all Burstable pods'),
    },
    besteffort: {
      ...besteffortProtection(i.memoryQos),
      'memory.max': unlimited,
      'cpu.weight': bestEffortWeight('BestEffort pods request nothing'),
    },
  }
}

function kubepodsMemoryMax(i: NodePlanInput): PlannedValue<Bytes> {
  return i.enforcesPods
    ? value(
        i.allocatableMemory,
        'allocatable',
        'the capacity without kubeReserved and systemReserved',
        `allocatable = ${i.allocatableMemory}`,
      )
    : value(i.memoryCapacity, 'capacity', 'pods are not enforced, so the whole capacity')
}

type Protection = Pick<QosFiles, 'memory.min' | 'memory.low'>

const zero = bytes(0n)
const otherFile = (file: string): PlannedValue<Bytes> =>
  value(zero, 'other-file-protects', `${file} protects`)

/**
 * The kernel caps a child's protection by its ancestors', for min and for low apart, so kubepods carries both
 * sums under TieredReservation.
 */
function kubepodsProtection(s: MemoryQosSettings, sums: RequestSums): Protection {
  const off = unprotected(s)
  if (off !== undefined) return off
  const all = bytes(sums.guaranteed + sums.burstable)
  const min = sumValue(
    all,
    'requests of Guaranteed and Burstable pods',
    `${sums.guaranteed} + ${sums.burstable} = ${all}`,
  )
  if (s.policy === 'HardReservation') return { 'memory.min': min, 'memory.low': otherFile('memory.min') }
  return { 'memory.min': min, 'memory.low': burstableSum(sums) }
}

function burstableProtection(s: MemoryQosSettings, sums: RequestSums): Protection {
  const off = unprotected(s)
  if (off !== undefined) return off
  return s.policy === 'HardReservation'
    ? { 'memory.min': burstableSum(sums), 'memory.low': otherFile('memory.min') }
    : { 'memory.min': otherFile('memory.low'), 'memory.low': burstableSum(sums) }
}

function besteffortProtection(s: MemoryQosSettings): Protection {
  const nothing = notWritten(
    'besteffort-unprotected',
    'BestEffort pods request nothing that could be protected',
  )
  return unprotected(s) ?? { 'memory.min': nothing, 'memory.low': nothing }
}

const burstableSum = (sums: RequestSums): PlannedValue<Bytes> =>
  sumValue(sums.burstable, 'requests of Burstable pods', `sum of pod requests = ${sums.burstable}`)

const sumValue = (amount: Bytes, of: string, formula: string): PlannedValue<Bytes> =>
  value(amount, 'sum-of-requests', `the memory ${of}`, formula)

function unprotected(s: MemoryQosSettings): Protection | undefined {
  const off = whyMemoryQosIsOff(s)
  if (off !== undefined) {
    const nothing = notWritten(off.code, off.reason)
    return { 'memory.min': nothing, 'memory.low': nothing }
  }
  if (s.policy !== 'None') return undefined
  const none = value(zero, 'policy-none', 'memoryReservationPolicy is None')
  return { 'memory.min': none, 'memory.low': none }
}

/** The min gauge is what Guaranteed pods have, although kubepods carries the Burstable sum as well. */
function nodeGauges(s: MemoryQosSettings, sums: RequestSums): NodeGauges | undefined {
  if (whyMemoryQosIsOff(s) !== undefined) return undefined
  const [min, low] =
    s.policy === 'None'
      ? [zero, zero]
      : s.policy === 'HardReservation'
        ? [bytes(sums.guaranteed + sums.burstable), zero]
        : [sums.guaranteed, sums.burstable]
  return {
    kubelet_memory_qos_node_memory_min_bytes: min,
    kubelet_memory_qos_node_memory_low_bytes: low,
  }
}
