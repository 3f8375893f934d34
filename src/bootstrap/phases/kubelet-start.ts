// init, join: the node's three kubelet files.
import { planKubeletStart } from '../plans/new-node.js'
import type { Phase } from './phase.js'

export const kubeletStart: Phase = {
  name: 'kubelet-start',
  help: 'write instance-config.yaml, config.yaml and kubeadm-flags.env, and start the kubelet again',
  usesSocket: true,
  plan: planKubeletStart,
}
