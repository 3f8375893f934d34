// The handler that applies the rules of decide/admission.ts to the node as it is now, and has others give way to a critical pod.
import { asKeelsonError } from '../../core/errors.js'
import type { KubeNode } from '../../core/kube/objects.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { parseQuantity } from '../../core/units/quantity.js'
import type { ResourceList } from '../../core/units/resource-list.js'
import type { Files } from '../../ports/files.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { AdmissionHandler } from '../pods/decide/wanted-pod.js'
import { type AdmissionNode, decideAdmission, failsByAffinity } from './decide/admission.js'

type NodeLabels = Pick<AdmissionNode, 'name' | 'labels'>

interface AdmissionOptions {
  /** The node's name and default labels, for as long as its Node is not known. */
  readonly ownLabels: NodeLabels
  readonly os: string
  readonly allowedUnsafeSysctls: readonly string[]
  readonly files: Pick<Files, 'read'>
  /** The machine's own amounts. */
  readonly allocatable: () => Promise<ResourceList>
  /** Whether the runtime carries out `supplementalGroupsPolicy: Strict`. */
  readonly supplementalGroupsPolicy: () => Promise<boolean>
  /** The Node as the watch has it; undefined: not known, or standalone. */
  readonly node: () => KubeNode | undefined
  /** The Node as the API server has it now; undefined in standalone mode. */
  readonly fetchNode: ((signal: AbortSignal) => Promise<KubeNode | undefined>) | undefined
  /** Ends pods that give way to a critical one; resolves when nothing of them runs. */
  readonly preempt: (pods: readonly PodSpec[]) => Promise<unknown>
  readonly log: Log
  readonly metrics: Metrics
}

export const createAdmission = (o: AdmissionOptions): AdmissionHandler => {
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
      appArmor: await isAppArmorEnabled(o.files),
    }
  }
  const getNode = async (signal: AbortSignal): Promise<KubeNode | undefined> => {
    try {
      return await o.fetchNode?.(signal)
    } catch (e) {
      o.log.warn('failed to get the Node for admission', { error: asKeelsonError(e) })
      return undefined
    }
  }
  return async ({ pod, others }, signal) => {
    const decide = async (node: KubeNode | undefined) =>
      decideAdmission({ pod, others, node: await describe(node, pod) })
    let decision = await decide(o.node())
    if (failsByAffinity(decision)) {
      // Labels of a node may have changed a moment before the pod was bound to it.
      const fresh = await getNode(signal)
      if (fresh !== undefined) decision = await decide(fresh)
    }
    if (decision.kind === 'rejected') {
      const { reason, message } = decision
      rejections.inc({ reason })
      return { reason, message }
    }
    if (decision.preempts.length > 0) {
      preemptions.inc({ preemption_signal: decision.resource }, decision.preempts.length)
      await untilAborted(o.preempt(decision.preempts), signal)
    }
    return undefined
  }
}

/** As the kernel says it; no such file: built without AppArmor. */
async function isAppArmorEnabled(files: Pick<Files, 'read'>): Promise<boolean> {
  const text = await files.read('/sys/module/apparmor/parameters/enabled', 64)
  return new TextDecoder().decode(text ?? new Uint8Array()).startsWith('Y')
}

/** Pods that do not end must not keep the kubelet from ending. */
const untilAborted = (work: Promise<unknown>, signal: AbortSignal): Promise<unknown> =>
  Promise.race([
    work,
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    }),
  ])

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
