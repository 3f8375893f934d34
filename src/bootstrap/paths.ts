// The places on a node and in the cluster that KEP-4656 speaks of, each named once.

export const kubeletDirectory = '/var/lib/kubelet'
export const instanceConfigPath = '/var/lib/kubelet/instance-config.yaml'
export const kubeletConfigPath = '/var/lib/kubelet/config.yaml'
export const kubeletFlagsPath = '/var/lib/kubelet/kubeadm-flags.env'

export const kubernetesDirectory = '/etc/kubernetes'
export const backupParent = '/etc/kubernetes/tmp'
export const backupPrefix = 'kubeadm-kubelet-config'

/** Outside of the kubelet's directory, which reset empties. */
export const stateDirectory = '/var/lib/keelson'
export const journalPath = '/var/lib/keelson/node-journal.json'
export const lockPath = '/var/lib/keelson/node.lock'
export const undoPath = '/var/lib/keelson/use-socket-undo.json'

export const criUnit = 'keelson-cri.service'
export const criUnitPath = `/etc/systemd/system/${criUnit}`
/** What `systemctl enable` would make. */
export const criWantsPath = `/etc/systemd/system/multi-user.target.wants/${criUnit}`
export const crictlPath = '/etc/crictl.yaml'

export const directoryMode = 0o700
export const fileMode = 0o644

export const criSocketAnnotation = 'kubeadm.alpha.kubernetes.io/cri-socket'
export const kubeletConfigMap = 'kubelet-config'
export const kubeletConfigMapKey = 'kubelet'
export const kubeadmConfigMap = 'kubeadm-config'
export const kubeadmConfigMapKey = 'ClusterConfiguration'
