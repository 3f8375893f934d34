// Whether this node runs a pod that it was given: the scheduler may not have known all of it, and static pods have none. The first
// refusal counts; reasons and messages are upstream's.
import type { Taint } from '../../../core/kube/objects.js'
import { isCriticalPod, isStaticPod } from '../../../core/pod/pod.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { ResourceList } from '../../../core/units/resource-list.js'
import type { Rejection } from '../../pods/decide/wanted-pod.js'
import { appArmorProblem } from './app-armor.js'
import { hostPortsAreFree } from './host-ports.js'
import { type LabelledNode, matchesNode } from './node-affinity.js'
import { choosePreempted, describeShortages } from './preemption.js'
import { findShortages, type Shortage } from './resources.js'
import { sysctlProblem } from './sysctls.js'
import { toleratesNoExecute } from './taints.js'

export interface AdmissionNode extends LabelledNode {
  readonly taints: readonly Taint[]
  readonly allocatable: ResourceList
  /** Go's name: `linux`. */
  readonly os: string
  /** Whether the runtime carries out `supplementalGroupsPolicy: Strict`. */
  readonly supplementalGroupsPolicy: boolean
  readonly allowedUnsafeSysctls: readonly string[]
  /** Whether the kernel enforces AppArmor profiles. */
  readonly appArmor: boolean
}

interface AdmissionInput {
  readonly pod: PodSpec
  /** Pods that were admitted and may still run, without this one. */
  readonly others: readonly PodSpec[]
  readonly node: AdmissionNode
}

type AdmissionDecision =
  | {
      readonly kind: 'admitted'
      /** Pods that have to end first. */
      readonly preempts: readonly PodSpec[]
      /** What they have to end for; empty: for nothing. */
      readonly resource: string
    }
  | ({ readonly kind: 'rejected' } & Rejection)

const osLabel = 'kubernetes.io/os'

export function decideAdmission(i: AdmissionInput): AdmissionDecision {
  const refused = refusedWhatever(i)
  if (refused !== undefined) return { kind: 'rejected', ...refused }
  const shortages = findShortages(
    i.pod.pod,
    i.others.map(({ pod }) => pod),
    i.node.allocatable,
  )
  const failed = failedPredicates(i)
  const isCritical = isCriticalPod(i.pod.pod)
  // For a critical pod too few resources are no reason: others give way, unless it cannot run anyway.
  const [first] = isCritical ? failed : [...shortages.map(shortageRejection), ...failed]
  if (first !== undefined) return { kind: 'rejected', ...first }
  if (shortages.length === 0) return { kind: 'admitted', preempts: [], resource: '' }
  const preempted = choosePreempted(
    i.pod.pod,
    i.others.map(({ pod }) => pod),
    shortages,
  )
  if (preempted === undefined)
    return {
      kind: 'rejected',
      reason: 'UnexpectedAdmissionError',
      message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: ${describeShortages(shortages)}`,
    }
  return {
    kind: 'admitted',
    preempts: preempted.flatMap(({ uid }) => i.others.find(({ pod }) => pod.uid === uid) ?? []),
    resource: shortages[0]?.resource ?? '',
  }
}

/** Whether another look at the labels of the node may change the answer. */
export const failsByAffinity = (decision: AdmissionDecision): boolean =>
  decision.kind === 'rejected' && decision.reason === 'NodeAffinity'

/** What ending other pods cannot help. */
function refusedWhatever({ pod, node }: AdmissionInput): Rejection | undefined {
  const sysctl = sysctlProblem(pod, node.allowedUnsafeSysctls)
  if (sysctl !== undefined) return { reason: 'SysctlForbidden', message: sysctl }
  const wantedOs = pod.labels.get(osLabel)
  if (wantedOs !== undefined && wantedOs !== node.os)
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    }
  const { os } = pod.document.spec as { readonly os?: { readonly name?: string } | null }
  if (os !== undefined && os !== null && os.name !== node.os)
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    }
  if (pod.security.supplementalGroupsPolicy === 'Strict' && !node.supplementalGroupsPolicy)
    return {
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    }
  const appArmor = appArmorProblem(pod, node.appArmor)
  return appArmor === undefined ? undefined : { reason: 'AppArmor', message: appArmor }
}

function failedPredicates({ pod, others, node }: AdmissionInput): readonly Rejection[] {
  const { spec } = pod.document
  const checks = [
    {
      name: 'NodeAffinity',
      passed: matchesNode(spec, node),
      why: "node(s) didn't match Pod's node affinity/selector",
    },
    {
      name: 'NodePorts',
      passed: hostPortsAreFree(pod, others),
      why: "node(s) didn't have free ports for the requested pod ports",
    },
    {
      name: 'TaintToleration',
      passed: isStaticPod(pod.pod) || toleratesNoExecute(spec, node.taints),
      why: "node(s) had taints that the pod didn't tolerate",
    },
  ]
  return checks
    .filter(({ passed }) => !passed)
    .map(({ name, why }) => ({ reason: name, message: `Predicate ${name} failed: ${why}` }))
}

const shortageRejection = ({ resource, requested, used, capacity }: Shortage): Rejection => ({
  reason: `OutOf${resource}`,
  message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
})
