// The object that shows a static pod in the API server. Pure.
import type { KubePod } from '../../../../core/kube/objects.js'
import type { PodJson } from '../../../../core/pod/document.js'
import { configHash } from '../../decide/static-pod.js'
import { configMirror } from '../../decide/wanted-pod.js'

interface OwnerNode {
  readonly name: string
  readonly uid: string
}

/** The owner is what a node may create a mirror with: itself. */
export function mirrorObject({ metadata, spec }: PodJson, node: OwnerNode): KubePod {
  const { name, namespace, labels, annotations = {} } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [configMirror]: annotations[configHash] ?? '' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec,
  }
}
