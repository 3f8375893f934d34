// The services of the cluster, for the environment of containers: the one list that a node reads whole.
import type { KubeObject, KubeService } from '../../core/kube/objects.js'
import { collectionPath, services } from '../../core/kube/path.js'
import type { KubeApi } from '../../ports/kube-api.js'

interface ServiceList {
  /** Undefined: the list was not read yet. */
  current(): readonly KubeService[] | undefined
  follow(signal: AbortSignal): Promise<void>
}

export function createServiceList(api: Pick<KubeApi, 'follow'>): ServiceList {
  const known = new Map<string, KubeService>()
  let hasList = false
  const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace}/${metadata?.name}`
  const put = (object: KubeObject): void => void known.set(keyOf(object), onlyNeeded(object))
  return {
    current: () => (hasList ? [...known.values()] : undefined),
    follow: (signal) =>
      api.follow(
        collectionPath(services),
        {},
        {
          replace(items) {
            known.clear()
            for (const item of items) put(item)
            hasList = true
          },
          put,
          remove: (item) => void known.delete(keyOf(item)),
        },
        signal,
      ),
  }
}

/** A cluster may have ten thousand of them: what no variable is made of is not kept. */
function onlyNeeded({ metadata, spec }: KubeService): KubeService {
  const { name, namespace } = metadata ?? {}
  const ports = (spec?.ports ?? []).map(({ name: portName, protocol, port }) => ({
    port,
    ...(portName === undefined ? {} : { name: portName }),
    ...(protocol === undefined ? {} : { protocol }),
  }))
  return {
    metadata: { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      ports,
      ...(spec?.type === undefined ? {} : { type: spec.type }),
      ...(spec?.clusterIP === undefined ? {} : { clusterIP: spec.clusterIP }),
    },
  }
}
