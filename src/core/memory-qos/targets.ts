// Every cgroup that Memory QoS has a say in on one node, with the texts its files must hold: kubepods, the QoS
// cgroups, reserved cgroups, pods and containers. What is done about it is decided elsewhere.

import { type CgroupDriver, type CgroupName, formatCgroupPath } from '../cgroup/name.js'
import { splitPath } from '../cgroup/path.js'
import { kubepodsName, podCgroupName, qosCgroupName } from '../cgroup/pod-cgroup.js'
import { isKeelsonError } from '../errors.js'
import { type NodePlan, planNode } from '../plan/node-plan.js'
import { notWritten, type PlannedValue, plannedValue } from '../plan/planned-value.js'
import { type PodFiles, type PodPlanInput, planPod } from '../plan/pod-plan.js'
import { planReservedCgroups, type ReservedInput } from '../plan/reserved-cgroups.js'
import { type ContainerType, isTerminated, type PodResources, type QosClass } from '../pod/pod.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { type MemoryQosSettings, whyMemoryQosIsOff } from './settings.js'
import { containerUnified, desiredText, isMemoryFile, type MemoryFiles } from './unified.js'

export type TargetLevel = 'kubepods' | 'qos' | 'reserved' | 'pod' | 'container'
export type QosFile = 'memory.min' | 'memory.low' | 'memory.high'
export const qosFiles: readonly QosFile[] = ['memory.min', 'memory.low', 'memory.high']

export interface PodRef {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface MemoryTarget {
  /** The path; for a container the path of its pod, `#` and its name. */
  readonly id: string
  readonly level: TargetLevel
  /** What a person calls it: `burstable`, `pod web`, `container app`. */
  readonly title: string
  /** For a container the path of its pod: its own is known to the runtime alone. */
  readonly path: string
  readonly depth: number
  /** memory.min, low and high: a file that is missing here is left alone. */
  readonly desired: MemoryFiles
  readonly outcomes: Readonly<Partial<Record<QosFile, PlannedValue<bigint>>>>
  /** Files that the pod runner writes at creation and when these texts change, never otherwise. */
  readonly others: Readonly<Record<string, string>>
  readonly pod?: PodRef
  readonly container?: { readonly name: string; readonly type: ContainerType }
}

export interface TargetsInput {
  readonly pods: readonly PodResources[]
  readonly memoryQos: MemoryQosSettings
  readonly driver: CgroupDriver
  readonly cgroupRoot: string
  readonly cgroupsPerQOS: boolean
  readonly enforceNodeAllocatable: readonly string[]
  readonly reserved: Pick<ReservedInput, 'amounts' | 'cgroups'>
  readonly node: Omit<PodPlanInput, 'pod' | 'memoryQos' | 'claims' | 'memoryCapacity'> & {
    readonly memoryCapacity: Bytes
    readonly kubepodsMilliCpu?: bigint
    /** Undefined or below 1: no limit of ours. */
    readonly podPidsLimit?: bigint
  }
  /** Node-allocatable device claims by pod uid, then container name. */
  readonly claims?: ReadonlyMap<string, ReadonlyMap<string, Bytes>>
}

interface SkippedPod {
  readonly namespace: string
  readonly name: string
  readonly why: string
}

export interface MemoryQosTargets {
  readonly targets: readonly MemoryTarget[]
  readonly node: NodePlan
  /** Pods that no cgroup can be named for; they count nowhere. */
  readonly skipped: readonly SkippedPod[]
}

export function planMemoryQos(i: TargetsInput): MemoryQosTargets {
  const skipped: SkippedPod[] = []
  const planned = i.pods
    .filter((pod) => !isTerminated(pod))
    .flatMap((pod) => {
      const targets = planOne(i, pod, skipped)
      return targets === undefined ? [] : [{ pod, targets }]
    })
  const node = planNode({
    pods: planned.map(({ pod }) => pod),
    memoryQos: i.memoryQos,
    cgroupsPerQOS: i.cgroupsPerQOS,
    enforcesPods: i.enforceNodeAllocatable.includes('pods'),
    memoryCapacity: i.node.memoryCapacity,
    allocatableMemory: i.node.allocatableMemory,
    ...(i.node.kubepodsMilliCpu === undefined ? {} : { kubepodsMilliCpu: i.node.kubepodsMilliCpu }),
  })
  if (i.memoryQos.cgroupVersion === 1) return { targets: [], node, skipped }
  const tree = i.cgroupsPerQOS ? treeTargets(i, node) : []
  const pods = i.cgroupsPerQOS ? planned.flatMap(({ targets }) => targets) : []
  return { targets: [...tree, ...reservedTargets(i), ...pods], node, skipped }
}

/** A pod that has no place in the tree (a uid that is no name) must not cost the others theirs. */
function planOne(
  i: TargetsInput,
  pod: PodResources,
  skipped: SkippedPod[],
): readonly MemoryTarget[] | undefined {
  try {
    return podTargets(i, pod)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    skipped.push({ namespace: pod.namespace, name: pod.name, why: e.message })
    return undefined
  }
}

type Files = Readonly<Partial<Record<string, PlannedValue<bigint | string>>>>

function target(
  i: TargetsInput,
  level: TargetLevel,
  title: string,
  name: CgroupName,
  files: Files,
  more: Partial<Pick<MemoryTarget, 'pod' | 'others'>> = {},
): MemoryTarget {
  const path = formatCgroupPath(name, i.driver)
  const outcomes: Partial<Record<QosFile, PlannedValue<bigint>>> = {}
  for (const file of qosFiles) {
    const outcome = files[file]
    if (outcome !== undefined) outcomes[file] = outcome as PlannedValue<bigint>
  }
  return {
    id: path,
    level,
    title,
    path,
    depth: splitPath(path).length,
    desired: textsOf(outcomes),
    outcomes,
    others: { ...othersOf(files), ...more.others },
    ...(more.pod === undefined ? {} : { pod: more.pod }),
  }
}

function textsOf(outcomes: MemoryTarget['outcomes']): MemoryFiles {
  const texts: Partial<Record<QosFile, string>> = {}
  for (const file of qosFiles) {
    const outcome = outcomes[file]
    // Keelson never writes protection there, so what it holds is another writer's.
    if (outcome === undefined || outcome.code === 'besteffort-unprotected') continue
    const text = desiredText(file, outcome)
    if (text !== undefined) texts[file] = text
  }
  return texts
}

/** A limit that is removed is cleared; a weight or quota without a value was never ours. */
function othersOf(files: Files): Record<string, string> {
  const others: Record<string, string> = {}
  for (const [file, outcome] of Object.entries(files)) {
    if (outcome === undefined || qosFiles.some((own) => own === file)) continue
    const value = plannedValue(outcome)
    if (value !== undefined) others[file] = value.toString()
    else if (isMemoryFile(file)) others[file] = 'max'
    else if (file === 'cpu.max') others[file] = 'max'
  }
  return others
}

/** With the gate off memory.high is lifted everywhere; with it on, only containers and pods have one of ours. */
const clearedHigh = (s: MemoryQosSettings): Files => {
  const off = whyMemoryQosIsOff(s)
  return off === undefined ? {} : { 'memory.high': notWritten(off.code, off.reason) }
}

function treeTargets(i: TargetsInput, plan: NodePlan): readonly MemoryTarget[] {
  const of = (level: TargetLevel, title: string, name: CgroupName, files: Files): MemoryTarget =>
    target(i, level, title, name, { ...files, ...clearedHigh(i.memoryQos) })
  // QoS cgroups have no limit of ours: theirs is not cleared.
  const { 'memory.max': _b, ...burstable } = plan.burstable
  const { 'memory.max': _e, ...besteffort } = plan.besteffort
  return [
    of('kubepods', 'kubepods', kubepodsName(i.cgroupRoot), { ...plan.kubepods }),
    of('qos', 'burstable', qosCgroupName(i.cgroupRoot, 'Burstable'), burstable),
    of('qos', 'besteffort', qosCgroupName(i.cgroupRoot, 'BestEffort'), besteffort),
  ]
}

const reservedTargets = (i: TargetsInput): readonly MemoryTarget[] =>
  planReservedCgroups({
    ...i.reserved,
    enforceNodeAllocatable: i.enforceNodeAllocatable,
    driver: i.driver,
    memoryQos: i.memoryQos,
  }).flatMap(({ reservation, cgroup, files }) => {
    const { 'memory.max': max, 'memory.min': min, ...cpu } = files
    // A reservation without memory, or of CPU alone, leaves the memory files to their owner.
    const memory: Files =
      max.kind === 'value' ? { 'memory.max': max, 'memory.min': min, ...clearedHigh(i.memoryQos) } : {}
    return [target(i, 'reserved', reservation, cgroup, { ...cpu, ...memory })]
  })

function podTargets(i: TargetsInput, pod: PodResources): readonly MemoryTarget[] {
  const { uid } = pod
  const claims = i.claims?.get(uid)
  const plan = planPod({
    ...i.node,
    memoryQos: i.memoryQos,
    pod,
    ...(claims === undefined ? {} : { claims }),
  })
  const ref: PodRef = { namespace: pod.namespace, name: pod.name, uid }
  const own = podTarget(i, pod, plan.qosClass, plan.files, ref)
  const containers = plan.containers.map((container): MemoryTarget => {
    const unified = containerUnified(container.files, i.memoryQos.cgroupVersion)
    const desired: Partial<Record<QosFile, string>> = {}
    for (const file of qosFiles) if (unified[file] !== undefined) desired[file] = unified[file]
    const { 'memory.min': min, 'memory.low': low, 'memory.high': high } = container.files
    return {
      id: `${own.path}#${container.name}`,
      level: 'container',
      title: `container ${container.name}`,
      path: own.path,
      depth: own.depth + 1,
      desired,
      outcomes: { 'memory.min': min, 'memory.low': low, 'memory.high': high },
      others: {},
      pod: ref,
      container: { name: container.name, type: container.type },
    }
  })
  return [own, ...containers]
}

function podTarget(
  i: TargetsInput,
  pod: PodResources,
  qosClass: QosClass,
  files: PodFiles,
  ref: PodRef,
): MemoryTarget {
  const pids = i.node.podPidsLimit ?? 0n
  const others = pids > 0n ? { 'pids.max': pids.toString() } : {}
  const name = podCgroupName(ref.uid, qosClass, i.cgroupRoot)
  return target(i, 'pod', `pod ${pod.name}`, name, { ...files }, { pod: ref, others })
}

/** The sum that is protected, for findings: what no reclaim may take, and what it takes last. */
export const protectedBytes = ({ targets }: MemoryQosTargets): Bytes =>
  bytes(
    targets
      .filter((t) => t.level === 'kubepods' || t.level === 'reserved')
      .reduce((sum, t) => sum + BigInt(t.desired['memory.min'] ?? '0'), 0n),
  )
