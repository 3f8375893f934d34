// init: both ConfigMaps of kube-system. upgrade apply: only the annotation follows the gate.
import { planUpgradeAnnotation, planUploadKubeadm, planUploadKubelet } from '../plans/upload-config.js'
import type { Phase } from './phase.js'

export const uploadConfig: Phase = {
  name: 'upload-config',
  help: 'upload the configuration of kubeadm and of the kubelet to ConfigMaps',
  usesSocket: true,
  phases: [
    {
      name: 'kubeadm',
      help: 'upload the ClusterConfiguration to kube-system/kubeadm-config',
      usesSocket: false,
      plan: planUploadKubeadm,
    },
    {
      name: 'kubelet',
      help: 'upload the KubeletConfiguration to kube-system/kubelet-config; annotate the Node if the gate is off',
      usesSocket: true,
      plan: planUploadKubelet,
    },
  ],
}

export const upgradeUploadConfig: Phase = {
  name: 'upload-config',
  help: 'bring what the cluster records about this node in line with the gate',
  usesSocket: true,
  phases: [
    {
      name: 'kubelet',
      help: 'write the CRI socket annotation again (gate off) or take it away (gate on)',
      usesSocket: true,
      plan: planUpgradeAnnotation,
    },
  ],
}
