// ConfigMaps of kube-system and the annotations of a Node, for `keelson node`.
import type { KubeObject } from '../../core/kube/objects.js'
import { collectionPath, configMaps, nodes, objectPath } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import type { ClusterObjects } from '../../ports/bootstrap.js'
import type { KubeApi } from '../../ports/kube-api.js'

const namespace = 'kube-system'
const callTimeoutMs = 10_000

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export function createClusterObjects(api: KubeApi): ClusterObjects {
  const { signal } = new AbortController()
  const options = (doing: string) => ({ signal, timeoutMs: callTimeoutMs, doing })
  const mapPath = (name: string): string => objectPath(configMaps, { namespace, name })
  return {
    async readConfigMap(name) {
      const found = await api.get<ConfigMap>(mapPath(name), options(`read ConfigMap ${namespace}/${name}`))
      return found === undefined ? undefined : { ...found.data }
    },
    async writeConfigMap(name, data) {
      const write = options(`write ConfigMap ${namespace}/${name}`)
      try {
        await api.patch(mapPath(name), 'merge', { data }, write)
      } catch (e) {
        if (callStatusOf(e) !== 404) throw e
        const body: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
        await api.create(collectionPath(configMaps, namespace), body, write)
      }
    },
    async deleteConfigMap(name) {
      await api.remove(mapPath(name), options(`delete ConfigMap ${namespace}/${name}`))
    },
    async readNode(name) {
      const found = await api.get(objectPath(nodes, { name }), options(`read Node ${name}`))
      return found === undefined ? undefined : { annotations: found.metadata?.annotations ?? {} }
    },
    async annotateNode(name, key, value) {
      const body = { metadata: { annotations: { [key]: value ?? null } } }
      await api.patch(objectPath(nodes, { name }), 'merge', body, options(`annotate Node ${name}`))
    },
  }
}
