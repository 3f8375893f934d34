// The pods of one node from the API server, for the companion: the last list that was whole, kept in step.
import type { KubeObject } from '../../core/kube/objects.js'
import { collectionPath, pods } from '../../core/kube/path.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { PodSource } from '../../ports/pod-source.js'

export function createPodWatch(api: Pick<KubeApi, 'list' | 'follow'>, nodeName: string): PodSource {
  const path = collectionPath(pods)
  const selection = { fieldSelector: `spec.nodeName=${nodeName}` }
  let known: Map<string, KubeObject> | undefined
  const uidOf = (pod: KubeObject): string => pod.metadata?.uid ?? ''
  const replace = (items: readonly KubeObject[]): void => {
    known = new Map(items.map((pod) => [uidOf(pod), pod]))
  }
  return {
    teller: 'api',
    current: () => (known === undefined ? undefined : [...known.values()]),
    async refresh(signal) {
      replace((await api.list(path, selection, { signal })).items)
    },
    follow: (onChange, signal) =>
      api.follow(
        path,
        selection,
        {
          replace(items) {
            replace(items)
            onChange()
          },
          put(pod) {
            known?.set(uidOf(pod), pod)
            onChange()
          },
          remove(pod) {
            known?.delete(uidOf(pod))
            onChange()
          },
        },
        signal,
      ),
  }
}
