// The Node of a machine that registers itself, before its status; and what is brought into line when there is one already.
import type { KubeNode, NodeStatus, Taint } from '../../../core/kube/objects.js'
import { defaultLabels, reconciledLabels } from './node-labels.js'
import { isHugePages } from './resources.js'

export interface RegistrationSettings {
  readonly name: string
  readonly os: string
  readonly arch: string
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly Taint[]
  readonly providerId: string | undefined
  readonly isCloudExternal: boolean
  readonly controllerAttachDetach: boolean
}

const attachDetach = 'volumes.kubernetes.io/controller-managed-attach-detach'
const uninitialized: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}

/** Taints only here: NodeRestriction forbids a node to change them later. */
export function newNode(s: RegistrationSettings): KubeNode {
  const taints = [...s.taints, ...(s.isCloudExternal ? [uninitialized] : [])]
  const annotations = s.controllerAttachDetach ? { [attachDetach]: 'true' } : {}
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: s.name,
      labels: { ...defaultLabels(s.name, s.os, s.arch), ...s.labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      ...(taints.length === 0 ? {} : { taints }),
      ...(s.providerId === undefined || s.providerId === '' ? {} : { providerID: s.providerId }),
    },
  }
}

/** The existing Node with what has to be as in the new one. Its taints, other labels and providerID are its own. */
export function reconcileNode(existing: KubeNode, wanted: KubeNode): KubeNode {
  const { [attachDetach]: _, ...annotations } = existing.metadata?.annotations ?? {}
  const attach = wanted.metadata?.annotations?.[attachDetach]
  const labels = { ...existing.metadata?.labels }
  for (const name of reconciledLabels) {
    const value = wanted.metadata?.labels?.[name]
    if (value !== undefined && value !== '') labels[name] = value
  }
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels,
      annotations: { ...annotations, ...(attach === undefined ? {} : { [attachDetach]: attach }) },
    },
    status: {
      ...existing.status,
      ...amounts('capacity', existing.status, wanted.status),
      ...amounts('allocatable', existing.status, wanted.status),
    },
  }
}

/** All of them where there are none; else the sizes of huge pages that this machine has. */
function amounts(
  field: 'capacity' | 'allocatable',
  existing: NodeStatus | undefined,
  wanted: NodeStatus | undefined,
): Pick<NodeStatus, 'capacity' | 'allocatable'> {
  const ours = wanted?.[field] ?? {}
  const theirs = existing?.[field]
  if (theirs === undefined) return { [field]: ours }
  const others = Object.entries(theirs).filter(([name]) => !isHugePages(name))
  const hugePages = Object.entries(ours).filter(([name]) => isHugePages(name))
  return { [field]: Object.fromEntries([...others, ...hugePages]) }
}
