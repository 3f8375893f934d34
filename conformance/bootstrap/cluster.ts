// The API objects that KEP-4656 speaks of, on the real API server: emptied before a run and read after it.
import { readFile } from 'node:fs/promises'
import type { ControlPlane } from '../cluster/control-plane.js'
import { nodeName } from './documents.js'
import { annotationName, type NodeState } from './scenario.js'

const configMap = (name: string) => `/api/v1/namespaces/kube-system/configmaps/${name}`
const node = `/api/v1/nodes/${nodeName}`
const pods = '/api/v1/namespaces/kube-system/pods'
const controlPlanePod = `kube-apiserver-${nodeName}`

/** No ConfigMaps, a fresh Node, and the pod by which `upgrade apply` finds the API server's address. */
export async function resetCluster({ client }: ControlPlane): Promise<void> {
  await client.remove(configMap('kubelet-config'))
  await client.remove(configMap('kubeadm-config'))
  await client.remove(`${pods}/${controlPlanePod}?gracePeriodSeconds=0`)
  await client.remove(node)
  // kubeadm waits for the host name label, the mark of a kubelet that has registered itself.
  const metadata = { name: nodeName, labels: { 'kubernetes.io/hostname': nodeName } }
  await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata })
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: controlPlanePod,
      labels: { component: 'kube-apiserver', tier: 'control-plane' },
      annotations: { 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': '192.0.2.10:6443' },
    },
    spec: { nodeName, containers: [{ name: 'kube-apiserver', image: 'registry.invalid/none' }] },
  })
}

/** null takes the annotation away. */
export const annotateNode = ({ client }: ControlPlane, criSocket: string | null): Promise<void> =>
  client.patch(node, { metadata: { annotations: { [annotationName]: criSocket } } })

/** A joining node asks this ConfigMap for a fresh certificate authority. */
export async function publishClusterInfo({ client, kubeconfig }: ControlPlane): Promise<void> {
  const path = '/api/v1/namespaces/kube-public/configmaps'
  await client.remove(`${path}/cluster-info`)
  await client.create(path, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info' },
    data: { kubeconfig: await readFile(kubeconfig, 'utf8') },
  })
}

export async function readCluster({
  client,
}: ControlPlane): Promise<Pick<NodeState, 'annotation' | 'kubeletConfigMap' | 'kubeadmConfigMap'>> {
  const [kubelet, kubeadm, object] = await Promise.all([
    client.getObject(configMap('kubelet-config')),
    client.getObject(configMap('kubeadm-config')),
    client.getObject(node),
  ])
  return {
    annotation: object?.metadata?.annotations?.[annotationName],
    kubeletConfigMap: kubelet?.data?.kubelet,
    kubeadmConfigMap: kubeadm?.data?.ClusterConfiguration,
  }
}
