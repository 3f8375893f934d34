// reset: the pods go through the runtime's socket, then what kubeadm and the kubelet left on disk. The Node object
// stays: it may be wanted, and deleting it is the cluster's business.
import type { PhaseContext } from '../context.js'
import { backupParent, kubeletDirectory, kubernetesDirectory, undoPath } from '../paths.js'
import type { PlanPart } from '../plan.js'
import { formatUndoRecord, parseUndoRecord } from '../undo-record.js'
import { decodeText } from '../yaml-text.js'
import type { Phase } from './phase.js'

const kubeconfigs = [
  'admin.conf',
  'super-admin.conf',
  'kubelet.conf',
  'bootstrap-kubelet.conf',
  'controller-manager.conf',
  'scheduler.conf',
]

/** Deleted files cannot be restored, but the CRI server can still be removed with cri uninstall. */
function keptRecord(bytes: Uint8Array | undefined): string | undefined {
  try {
    const text = bytes === undefined ? undefined : decodeText(bytes, undoPath)
    return formatUndoRecord(parseUndoRecord(text).filter((e) => e.server !== undefined))
  } catch {
    return undefined
  }
}

function planReset({ request, facts }: PhaseContext): PlanPart {
  const record = keptRecord(facts.undoRecord)
  const { reset } = request.documents
  const certificates = reset?.certificatesDir ?? `${kubernetesDirectory}/pki`
  const temporary = request.cleanupTmpDir || (reset?.cleanupTmpDir ?? false) ? [backupParent] : []
  return {
    kubelet: 'stop',
    removePods: true,
    emptyDirectories: [kubeletDirectory, `${kubernetesDirectory}/manifests`, certificates, ...temporary],
    removeFiles: [
      ...kubeconfigs.map((f) => `${kubernetesDirectory}/${f}`),
      ...(record === undefined ? [undoPath] : []),
    ],
    ...(record === undefined
      ? {}
      : {
          writes: [{ path: undoPath, text: record }],
          notices: ['the CRI server is still installed; remove it with keelson cri uninstall'],
        }),
  }
}

export const cleanupNode: Phase = {
  name: 'cleanup-node',
  help: "stop the kubelet, remove the node's pods and delete the contents of the kubelet and kubeadm directories",
  usesSocket: true,
  plan: planReset,
}
