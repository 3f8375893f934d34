// A cluster in memory: some Nodes with annotations and the ConfigMaps of kube-system, and a count of its writes.
import { keelsonError } from '../core/errors.js'
import type { ClusterObjects } from '../ports/bootstrap.js'

export interface FakeCluster extends ClusterObjects {
  readonly nodes: Map<string, Map<string, string>>
  readonly configMaps: Map<string, Map<string, string>>
  writes: number
  /** Called before each write; may throw. */
  beforeWrite: () => void
}

export function createFakeCluster(): FakeCluster {
  const nodes = new Map<string, Map<string, string>>()
  const configMaps = new Map<string, Map<string, string>>()
  const writing = (): void => {
    cluster.beforeWrite()
    cluster.writes++
  }
  const cluster: FakeCluster = {
    nodes,
    configMaps,
    writes: 0,
    beforeWrite: () => undefined,
    readConfigMap: async (name) => {
      const found = configMaps.get(name)
      return found === undefined ? undefined : Object.fromEntries(found)
    },
    writeConfigMap: async (name, data) => {
      writing()
      configMaps.set(name, new Map([...(configMaps.get(name) ?? []), ...Object.entries(data)]))
    },
    deleteConfigMap: async (name) => {
      writing()
      configMaps.delete(name)
    },
    readNode: async (name) => {
      const found = nodes.get(name)
      return found === undefined ? undefined : { annotations: Object.fromEntries(found) }
    },
    annotateNode: async (name, key, value) => {
      writing()
      const found = nodes.get(name)
      if (found === undefined)
        throw keelsonError('kubeapi.failed', `annotate Node ${name}: the API server responded with 404`)
      if (value === undefined) found.delete(key)
      else found.set(key, value)
    },
  }
  return cluster
}
