// The situations that are compared, each for every minor whose rules have it.
import type { Scenario } from './scenario.js'

const crio = 'unix:///var/run/crio/crio.sock'
const containerd = 'unix:///var/run/containerd/containerd.sock'
const other = 'unix:///run/demo/rt.sock'

const flagsWith = (args: string): Record<string, string> => ({
  '/var/lib/kubelet/kubeadm-flags.env': `KUBELET_KUBEADM_ARGS="${args}"\n`,
})
const oldConfig = {
  '/var/lib/kubelet/config.yaml':
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\ncontainerRuntimeEndpoint: ""\n',
}
const instance = (text: string) => ({ '/var/lib/kubelet/instance-config.yaml': text })

export const scenarios: readonly Scenario[] = [
  { name: 'init, socket given', command: 'init', minors: ['1.35', '1.36', '1.37'], criSocket: other },
  {
    name: 'init, gate off',
    command: 'init',
    minors: ['1.35', '1.36', '1.37'],
    gate: false,
    criSocket: other,
    refusedBy: { '1.36': ['keelson'], '1.37': ['kubeadm', 'keelson'] },
    refusalDiffersBy: 'locked-gate',
  },
  {
    name: 'init, two runtimes answer',
    command: 'init',
    minors: ['1.35', '1.37'],
    listening: [containerd, crio],
    refusedBy: { '1.35': ['kubeadm', 'keelson'], '1.37': ['kubeadm', 'keelson'] },
  },
  { name: 'init, CRI-O detected', command: 'init', minors: ['1.35', '1.36', '1.37'], listening: [crio] },
  { name: 'init, nothing answers', command: 'init', minors: ['1.35', '1.36', '1.37'] },
  {
    name: 'init, user patch of another key',
    command: 'init',
    minors: ['1.35', '1.36', '1.37'],
    criSocket: other,
    patches: { 'kubeletconfiguration+merge.yaml': 'maxPods: 42\n' },
  },
  {
    name: 'init, user patch of the endpoint',
    command: 'init',
    minors: ['1.35', '1.36', '1.37'],
    criSocket: other,
    patches: { 'kubeletconfiguration.yaml': `containerRuntimeEndpoint: ${crio}\n` },
  },
  { name: 'join, socket given', command: 'join', minors: ['1.35', '1.36', '1.37'], criSocket: other },
  { name: 'join, gate off', command: 'join', minors: ['1.35'], gate: false, criSocket: other },
  {
    name: 'join, the cluster document names a socket',
    command: 'join',
    minors: ['1.35', '1.36', '1.37'],
    criSocket: other,
    kubelet: { containerRuntimeEndpoint: containerd },
  },
  {
    name: 'upgrade node from flag and annotation',
    command: 'upgrade node',
    minors: ['1.35', '1.36', '1.37'],
    annotation: crio,
    listening: [crio],
    files: { ...oldConfig, ...flagsWith(`--v=2 --container-runtime-endpoint=${crio}`) },
  },
  {
    name: 'upgrade node, gate off',
    command: 'upgrade node',
    minors: ['1.35'],
    gate: false,
    annotation: crio,
    listening: [crio],
    files: { ...oldConfig, ...flagsWith(`--container-runtime-endpoint=${crio}`) },
  },
  {
    name: 'upgrade node, the cluster still says gate off at GA',
    command: 'upgrade node',
    minors: ['1.36'],
    gate: false,
    annotation: crio,
    listening: [crio],
    files: { ...oldConfig, ...flagsWith(`--container-runtime-endpoint=${crio}`) },
  },
  {
    name: 'upgrade node, gate switched off after the migration',
    command: 'upgrade node',
    minors: ['1.35'],
    gate: false,
    files: { ...oldConfig, ...flagsWith('--v=2'), ...instance(`containerRuntimeEndpoint: "${crio}"\n`) },
  },
  {
    name: 'upgrade node, config.yaml missing',
    command: 'upgrade node',
    minors: ['1.35', '1.37'],
    files: { ...flagsWith(''), ...instance(`containerRuntimeEndpoint: "${crio}"\n`) },
    refusedBy: { '1.35': ['kubeadm', 'keelson'], '1.37': ['kubeadm', 'keelson'] },
  },
  {
    name: 'upgrade node, instance file present',
    command: 'upgrade node',
    minors: ['1.35', '1.36', '1.37'],
    files: {
      ...oldConfig,
      ...flagsWith(''),
      ...instance(`containerRuntimeEndpoint: "${other}"\nmaxPods: 42\n`),
    },
  },
  {
    name: 'upgrade node, no instance file, CRI-O detected',
    command: 'upgrade node',
    minors: ['1.35', '1.36', '1.37'],
    listening: [crio],
    files: { ...oldConfig, ...flagsWith('--v=2') },
  },
  {
    name: 'upgrade apply from flag and annotation',
    command: 'upgrade apply',
    minors: ['1.35', '1.36', '1.37'],
    annotation: crio,
    listening: [crio],
    files: { ...oldConfig, ...flagsWith(`--container-runtime-endpoint=${crio}`) },
  },
  {
    name: 'upgrade apply, gate off',
    command: 'upgrade apply',
    minors: ['1.35'],
    gate: false,
    annotation: crio,
    listening: [crio],
    files: { ...oldConfig, ...flagsWith(`--container-runtime-endpoint=${crio}`) },
  },
  {
    name: 'upgrade apply, instance file present',
    command: 'upgrade apply',
    minors: ['1.35', '1.36', '1.37'],
    files: { ...oldConfig, ...flagsWith(''), ...instance(`containerRuntimeEndpoint: "${other}"\n`) },
  },
  {
    name: 'reset',
    command: 'reset',
    minors: ['1.35', '1.36', '1.37'],
    listening: [containerd],
    annotation: containerd,
    files: {
      ...oldConfig,
      ...flagsWith(''),
      ...instance(`containerRuntimeEndpoint: "${containerd}"\n`),
      '/var/lib/kubelet/pki/kubelet.crt': 'not a certificate\n',
      '/etc/kubernetes/pki/ca.crt': 'not a certificate\n',
      '/etc/kubernetes/manifests/etcd.yaml': 'not a manifest\n',
      '/etc/kubernetes/admin.conf': 'not a kubeconfig\n',
      '/etc/kubernetes/user-made.conf': 'stays\n',
    },
  },
  {
    name: 'reset, two runtimes answer',
    command: 'reset',
    minors: ['1.35', '1.37'],
    listening: [containerd, crio],
    files: { ...oldConfig, ...flagsWith(''), ...instance(`containerRuntimeEndpoint: "${crio}"\n`) },
    refusedBy: { '1.35': ['kubeadm'], '1.37': ['kubeadm'] },
    refusalDiffersBy: 'reset-record',
  },
]
