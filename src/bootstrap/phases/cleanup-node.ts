// reset: remove the pods and what is left of the node on disk.
import { planReset } from '../plans/reset.js'
import type { Phase } from './phase.js'

export const cleanupNode: Phase = {
  name: 'cleanup-node',
  help: "stop the kubelet, remove the node's pods and empty the directories of kubelet and kubeadm",
  usesSocket: true,
  plan: planReset,
}
