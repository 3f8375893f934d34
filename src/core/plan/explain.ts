// What `keelson explain` says: every value that the given pods lead to on one node, from the containers up to
// kubepods and the reserved cgroups, each with its reason. Plain data; printing is the command's business.

import { type CgroupDriver, type CgroupName, formatCgroupPath } from '../cgroup/name.js'
import { kubepodsName, podCgroupName, qosCgroupName } from '../cgroup/pod-cgroup.js'
import type { MemoryQosSettings } from '../memory-qos/settings.js'
import type { PodResources, QosClass } from '../pod/pod.js'
import { qosClassOf } from '../pod/qos-class.js'
import { bytes } from '../units/bytes.js'
import { planNode, type QosFiles } from './node-plan.js'
import { notWritten, type PlannedValue } from './planned-value.js'
import { type ContainerPlan, type PodFiles, type PodPlanInput, planPod } from './pod-plan.js'
import { planReservedCgroups, type ReservedCgroup, type ReservedInput } from './reserved-cgroups.js'

type Paths = Readonly<Record<CgroupDriver, string>>

/** One cgroup and what its files get. `level` is what a person calls it. */
export interface ExplainedCgroup {
  readonly level: 'container' | 'pod' | 'qos' | 'kubepods' | 'reserved'
  readonly title: string
  readonly paths: Paths
  readonly files: readonly ExplainedFile[]
}

export interface ExplainedFile {
  readonly file: string
  readonly outcome: PlannedValue<bigint | string>
}

interface ExplainedPod {
  readonly origin: string
  readonly namespace: string
  readonly name: string
  readonly qosClass: QosClass
  readonly containers: readonly ExplainedCgroup[]
  readonly pod: ExplainedCgroup
}

export interface Explanation {
  readonly pods: readonly ExplainedPod[]
  /** The QoS cgroups in use, kubepods and enforced reservations: sums over the given pods. */
  readonly ancestors: readonly ExplainedCgroup[]
}

export interface ExplainInput {
  readonly pods: readonly { readonly origin: string; readonly pod: PodResources }[]
  readonly cgroupRoot: string
  readonly cgroupsPerQOS: boolean
  readonly enforceNodeAllocatable: readonly string[]
  readonly memoryQos: MemoryQosSettings
  readonly node: Omit<PodPlanInput, 'pod' | 'memoryQos' | 'claims'>
  readonly reserved: Omit<ReservedInput, 'memoryQos' | 'driver' | 'enforceNodeAllocatable'>
}

/** Stands for what only a running pod has; shown as it is. */
const unknownUid = '<uid>'

export function explain(i: ExplainInput): Explanation {
  return { pods: i.pods.map((p) => explainPod(i, p.origin, p.pod)), ancestors: explainAncestors(i) }
}

function explainPod(i: ExplainInput, origin: string, pod: PodResources): ExplainedPod {
  const plan = planPod({ ...i.node, memoryQos: i.memoryQos, pod })
  const uid = pod.uid === '' ? unknownUid : pod.uid
  const paths = pathsOf(podCgroupName(uid, plan.qosClass, i.cgroupRoot))
  return {
    origin,
    namespace: pod.namespace,
    name: pod.name,
    qosClass: plan.qosClass,
    containers: plan.containers.map((container) => explainContainer(container, paths)),
    pod: { level: 'pod', title: `pod ${pod.name}`, paths, files: filesOf(plan.files) },
  }
}

/** The names that containerd gives; CRI-O's scopes begin with `crio-`. */
const explainContainer = (container: ContainerPlan, parent: Paths): ExplainedCgroup => ({
  level: 'container',
  title: `${container.type === 'app' ? '' : `${container.type} `}container ${container.name}`,
  paths: { cgroupfs: `${parent.cgroupfs}/<id>`, systemd: `${parent.systemd}/cri-containerd-<id>.scope` },
  files: [...filesOf(container.files), { file: 'oom_score_adj', outcome: container.oomScoreAdj }],
})

function explainAncestors(i: ExplainInput): readonly ExplainedCgroup[] {
  const pods = i.pods.map((p) => p.pod)
  const plan = planNode({
    pods,
    memoryQos: i.memoryQos,
    cgroupsPerQOS: i.cgroupsPerQOS,
    enforcesPods: i.enforceNodeAllocatable.includes('pods'),
    memoryCapacity: i.node.memoryCapacity ?? bytes(0n),
    allocatableMemory: i.node.allocatableMemory,
  })
  const classes = new Set(pods.map((pod) => qosClassOf(pod)))
  const level = (title: string, name: CgroupName, files: QosFiles): ExplainedCgroup => ({
    level: title === 'kubepods' ? 'kubepods' : 'qos',
    title,
    paths: pathsOf(name),
    files: filesOf(files),
  })
  const kubepods =
    i.node.memoryCapacity === undefined ? { ...plan.kubepods, 'memory.max': capacityUnknown } : plan.kubepods
  return [
    ...(classes.has('Burstable')
      ? [level('burstable', qosCgroupName(i.cgroupRoot, 'Burstable'), plan.burstable)]
      : []),
    ...(classes.has('BestEffort')
      ? [level('besteffort', qosCgroupName(i.cgroupRoot, 'BestEffort'), plan.besteffort)]
      : []),
    level('kubepods', kubepodsName(i.cgroupRoot), kubepods),
    ...explainReserved(i),
  ]
}

/** Without the capacity there is no number to show, and a 0 would read like a limit of nothing. */
const capacityUnknown = notWritten(
  'capacity-unknown',
  'the memory capacity of the node is unknown here; give --memory-capacity',
)

/** The configured name is read by each driver's own rule, so the same word gives two paths. */
function explainReserved(i: ExplainInput): readonly ExplainedCgroup[] {
  const plan = (driver: CgroupDriver) =>
    planReservedCgroups({
      ...i.reserved,
      driver,
      memoryQos: i.memoryQos,
      enforceNodeAllocatable: i.enforceNodeAllocatable,
    })
  const systemd = new Map(plan('systemd').map((p) => [p.reservation, formatCgroupPath(p.cgroup, 'systemd')]))
  return plan('cgroupfs').map((p) => {
    const cgroupfs = formatCgroupPath(p.cgroup, 'cgroupfs')
    return {
      level: 'reserved',
      title: p.reservation,
      paths: { cgroupfs, systemd: systemd.get(p.reservation) ?? cgroupfs },
      files: filesOf(p.files),
    }
  })
}

const filesOf = (files: PodFiles | QosFiles | ReservedCgroup['files']): readonly ExplainedFile[] =>
  Object.entries<PlannedValue<bigint | string>>({ ...files }).map(([file, outcome]) => ({ file, outcome }))

const pathsOf = (name: CgroupName): Paths => ({
  cgroupfs: formatCgroupPath(name, 'cgroupfs'),
  systemd: formatCgroupPath(name, 'systemd'),
})
