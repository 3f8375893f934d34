// reset: the pods go through the runtime's socket, then what kubeadm and the kubelet left on disk. The Node object
// stays: it may be wanted, and deleting it is the cluster's business.
import type { PhaseContext } from '../context.js'
import { backupParent, kubeletDirectory, kubernetesDirectory, undoPath } from '../paths.js'
import type { PlanPart } from '../plan.js'

const kubeconfigs = [
  'admin.conf',
  'super-admin.conf',
  'kubelet.conf',
  'bootstrap-kubelet.conf',
  'controller-manager.conf',
  'scheduler.conf',
]

export function planReset({ request }: PhaseContext): PlanPart {
  const { reset } = request.documents
  const certificates = reset?.certificatesDir ?? `${kubernetesDirectory}/pki`
  const temporary = request.cleanupTmpDir || (reset?.cleanupTmpDir ?? false) ? [backupParent] : []
  return {
    kubelet: 'stop',
    removePods: true,
    emptyDirectories: [kubeletDirectory, `${kubernetesDirectory}/manifests`, certificates, ...temporary],
    removeFiles: [...kubeconfigs.map((f) => `${kubernetesDirectory}/${f}`), undoPath],
  }
}
