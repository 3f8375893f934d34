// From the Node as it is known to the Node as it should be: one strategic merge patch of its status, with labels and
// annotations in it. The uid makes it fail on a Node that was deleted and created again.
import type { KubeNode, NodeStatus } from '../../../core/kube/objects.js'
import { isEqualJson, strategicMergePatch } from '../../../core/kube/strategic-merge.js'

/** Two addresses may have one type, so they are not merged by it. */
const rules = { merged: { 'status.conditions': 'type' }, replaced: ['status.addresses'] }

/** Undefined: nothing differs. */
export function nodeStatusPatch(before: KubeNode, after: KubeNode): object | undefined {
  const part = (node: KubeNode) => ({
    metadata: { labels: node.metadata?.labels ?? {}, annotations: node.metadata?.annotations ?? {} },
    status: node.status ?? {},
  })
  const patch = strategicMergePatch(part(before), part(after), rules) as
    | { readonly metadata?: object }
    | undefined
  const uid = before.metadata?.uid
  if (patch === undefined || uid === undefined) return patch
  return { ...patch, metadata: { ...patch.metadata, uid } }
}

/** Heartbeats alone are no change. */
export function hasNodeChanged(before: KubeNode, after: KubeNode): boolean {
  const still = (status: NodeStatus | undefined): unknown => ({
    ...status,
    conditions: status?.conditions?.map(({ lastHeartbeatTime: _, ...condition }) => condition),
  })
  return (
    !isEqualJson(still(before.status), still(after.status)) ||
    !isEqualJson(before.metadata?.labels ?? {}, after.metadata?.labels ?? {}) ||
    !isEqualJson(before.metadata?.annotations ?? {}, after.metadata?.annotations ?? {})
  )
}
