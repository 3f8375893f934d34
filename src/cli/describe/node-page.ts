// `keelson describe node`: the Node of this machine as its cluster has it, read with the node's own kubeconfig.
import { hostname } from 'node:os'
import { openKubeApi } from '../../adapters/kubeapi/open.js'
import { createLog } from '../../adapters/log/log.js'
import { keelsonError } from '../../core/errors.js'
import { describeNode, type NodeEventLine } from '../../core/kube/describe-node.js'
import type { KubeNode, KubeObject, Lease } from '../../core/kube/objects.js'
import { collectionPath, events, leases, nodes, objectPath } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import { version } from '../version.js'

export const defaultKubeconfig = '/etc/kubernetes/kubelet.conf'
const maxEvents = 20
const timeoutMs = 10_000

interface EventObject extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTimestamp?: string
}

export async function readNodePage(kubeconfig: string, given: string | undefined): Promise<string> {
  const log = createLog({ format: 'text', level: 'warn', write: (line) => process.stderr.write(line) })
  const api = await openKubeApi({ kubeconfig, log, version })
  const name = given ?? hostname().trim().toLowerCase()
  const options = { signal: new AbortController().signal, timeoutMs }
  try {
    const node = await api.get<KubeNode>(objectPath(nodes, { name }), options)
    if (node === undefined)
      throw keelsonError(
        'node.refused',
        `describe node ${name}: the cluster at ${api.server} has no such Node`,
      )
    const lease = await api.get<Lease>(objectPath(leases, { namespace: 'kube-node-lease', name }), options)
    const selection = { fieldSelector: `involvedObject.kind=Node,involvedObject.name=${name}` }
    // A node may write events and not read them; an administrator's kubeconfig shows them.
    const found = await api
      .list(collectionPath(events, 'default'), selection, options)
      .catch((e: unknown) => {
        if (callStatusOf(e) === 403) return { items: [] }
        throw e
      })
    return describeNode({ node, lease, events: found.items.map(toLine).slice(-maxEvents), nowMs: Date.now() })
  } finally {
    api.close()
  }
}

const toLine = ({ type, reason, message, lastTimestamp, metadata }: EventObject): NodeEventLine => ({
  type: type ?? '',
  reason: reason ?? '',
  message: message ?? '',
  at: lastTimestamp ?? metadata?.creationTimestamp ?? '',
})
