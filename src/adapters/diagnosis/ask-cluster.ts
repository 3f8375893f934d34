// Asks the cluster about this node with the node's own credentials, within a bounded time. What cannot be had is left out.
import { asKeelsonError } from '../../core/errors.js'
import type { KubeNode, Lease } from '../../core/kube/objects.js'
import { leases, nodes, objectPath } from '../../core/kube/path.js'
import type { ClusterAnswer } from '../../ports/diagnosis.js'
import type { Log } from '../../ports/log.js'
import { describeCertificate } from '../certificates/describe.js'
import { createClock } from '../clock/clock.js'
import { readBounded } from '../files/read.js'
import { createKubeApi } from '../kubeapi/kube-api.js'
import type { Material } from '../kubeapi/kubeconfig.js'
import { readAccess } from '../kubeapi/open.js'

const maxBytes = 1024 * 1024

const textOf = async (material: Material): Promise<string> =>
  'text' in material
    ? material.text
    : Buffer.from((await readBounded(material.file, maxBytes)) ?? []).toString('utf8')

export async function askCluster(
  kubeconfig: string,
  nodeName: string,
  timeoutMs: number,
  log: Log,
): Promise<ClusterAnswer> {
  const nothing = { certificate: undefined, skewMs: undefined, node: undefined, lease: undefined }
  const access = await readAccess(kubeconfig).catch((e: unknown) => asKeelsonError(e).message)
  if (typeof access === 'string') return { ...nothing, server: undefined, problem: access }
  const server = access.server.origin
  const { certificate: pem, key } = access.user
  const certificate =
    pem === undefined || key === undefined
      ? undefined
      : await Promise.all([textOf(pem), textOf(key)]).then(
          ([c, k]) => describeCertificate(c, k),
          () => undefined,
        )
  const api = createKubeApi({ access, clock: createClock(), log, userAgent: 'keelson-doctor' })
  const options = { signal: new AbortController().signal, timeoutMs, retry: 'never' } as const
  const lease = objectPath(leases, { namespace: 'kube-node-lease', name: nodeName })
  try {
    const [skewMs, node, found] = await Promise.all([
      api.clockSkewMs(options),
      api.get<KubeNode>(objectPath(nodes, { name: nodeName }), options),
      api.get<Lease>(lease, options),
    ])
    return { server, problem: undefined, certificate, skewMs, node, lease: found }
  } catch (e) {
    return { ...nothing, server, problem: asKeelsonError(e).message, certificate }
  } finally {
    api.close()
  }
}
