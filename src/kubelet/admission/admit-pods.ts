// Admission on the node: asks each handler in turn, then the rules of decide/admission.ts, about the node as it is now.
import { asKeelsonError } from '../../core/errors.js'
import type { KubeNode } from '../../core/kube/objects.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { parseQuantity } from '../../core/units/quantity.js'
import type { ResourceList } from '../../core/units/resource-list.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { Rejection } from '../pods/decide/wanted-pod.js'
import {
  type AdmissionDecision,
  type AdmissionNode,
  decideAdmission,
  failsByAffinity,
} from './decide/admission.js'

/** A part of the kubelet that may refuse pods: eviction under pressure, a node that shuts down. Undefined: no objection. */
export type AdmissionHandler = (pod: PodSpec) => Rejection | undefined

type NodeLabels = Pick<AdmissionNode, 'name' | 'labels'>

interface AdmissionOptions {
  /** Asked in order, before the rules. */
  readonly handlers: readonly AdmissionHandler[]
  /** The node's name and default labels, for as long as its Node is not known. */
  readonly ownLabels: NodeLabels
  readonly os: string
  readonly allowedUnsafeSysctls: readonly string[]
  /** The machine's own amounts. */
  readonly allocatable: () => Promise<ResourceList>
  /** Whether the runtime carries out `supplementalGroupsPolicy: Strict`. */
  readonly supplementalGroupsPolicy: () => Promise<boolean>
  /** The Node as the watch has it; undefined: not known, or standalone. */
  readonly node: () => KubeNode | undefined
  /** The Node as the API server has it now; undefined in standalone mode. */
  readonly fetchNode: (() => Promise<KubeNode | undefined>) | undefined
  readonly log: Log
  readonly metrics: Metrics
}

/** `others`: pods that were admitted and may still run. */
export type Admit = (pod: PodSpec, others: readonly PodSpec[]) => Promise<AdmissionDecision>

export const createAdmission = (o: AdmissionOptions): Admit => {
  const rejections = o.metrics.counter(
    'kubelet_admission_rejections_total',
    'Cumulative number pod admission rejections by the Kubelet.',
    ['reason'],
  )
  const preemptions = o.metrics.counter(
    'kubelet_preemptions',
    'Cumulative number of pod preemptions by preemption resource',
    ['preemption_signal'],
  )
  let machine: Promise<ResourceList> | undefined
  const describe = async (node: KubeNode | undefined, { security }: PodSpec): Promise<AdmissionNode> => {
    machine ??= o.allocatable()
    return {
      name: o.ownLabels.name,
      labels: node?.metadata?.labels ?? o.ownLabels.labels,
      taints: node?.spec?.taints ?? [],
      allocatable: new Map([...(await machine), ...extended(node)]),
      os: o.os,
      supplementalGroupsPolicy:
        security.supplementalGroupsPolicy !== 'Strict' || (await o.supplementalGroupsPolicy()),
      allowedUnsafeSysctls: o.allowedUnsafeSysctls,
    }
  }
  const fetch = async (): Promise<KubeNode | undefined> => {
    try {
      return await o.fetchNode?.()
    } catch (e) {
      o.log.warn('failed to get the Node for admission', { error: asKeelsonError(e) })
      return undefined
    }
  }
  const decide: Admit = async (pod, others) => {
    for (const handler of o.handlers) {
      const refused = handler(pod)
      if (refused !== undefined) return { kind: 'rejected', ...refused }
    }
    const decision = decideAdmission({ pod, others, node: await describe(o.node(), pod) })
    if (!failsByAffinity(decision)) return decision
    // Labels of a node may have changed a moment before the pod was bound to it.
    const fresh = await fetch()
    return fresh === undefined ? decision : decideAdmission({ pod, others, node: await describe(fresh, pod) })
  }
  return async (pod, others) => {
    const decision = await decide(pod, others)
    if (decision.kind === 'rejected') rejections.inc({ reason: decision.reason })
    else if (decision.preempts.length > 0)
      preemptions.inc({ preemption_signal: decision.resource }, decision.preempts.length)
    return decision
  }
}

/** Resources of devices and of the cluster, which others have written into the Node. */
function extended(
  node: KubeNode | undefined,
): readonly (readonly [string, ReturnType<typeof parseQuantity>])[] {
  return Object.entries(node?.status?.allocatable ?? {})
    .filter(([name]) => name.includes('/'))
    .flatMap(([name, text]) => {
      try {
        return [[name, parseQuantity(text)] as const]
      } catch {
        return []
      }
    })
}
