// The programs of other projects that Keelson is compared with. Each is built from its published Go module,
// pinned by go/<module>/go.mod and go.sum; nothing of their code is in this repository.
import { join } from 'node:path'

export interface Peer {
  readonly name: PeerName
  /** Folder below go/: one module per peer family, because their dependency graphs disagree. */
  readonly module: string
  readonly package: string
  /** File name of the binary. */
  readonly command: string
  /** Path of the module that decides the peer's version, as it stands in go.mod. */
  readonly versionOf: string
  /** Variables that the project's own release build sets through the linker; `VERSION` becomes the pinned version. */
  readonly linkerVariables: readonly string[]
  /** The program is a test binary: its package has test files only. */
  readonly isTest?: boolean
}

export const peerNames = [
  'cadvisor',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'crictl',
  'critest',
  'etcd',
  'kube-apiserver',
  'kubeadm-1.35',
  'kubeadm-1.36',
  'kubeadm-1.37',
  'metrics-server',
] as const
export type PeerName = (typeof peerNames)[number]

export const moduleRoot = join(import.meta.dirname, '..', 'go')

const containerd = (name: PeerName): Peer => ({
  name,
  module: 'containerd',
  package: `github.com/containerd/containerd/v2/cmd/${name}`,
  command: name,
  versionOf: 'github.com/containerd/containerd/v2',
  linkerVariables: ['github.com/containerd/containerd/v2/version.Version=VERSION'],
})

const criTools = (name: PeerName): Peer => ({
  name,
  module: 'cri-tools',
  package: `sigs.k8s.io/cri-tools/cmd/${name}`,
  command: name,
  versionOf: 'sigs.k8s.io/cri-tools',
  linkerVariables: ['sigs.k8s.io/cri-tools/pkg/version.Version=VERSION'],
})

const kubernetes = (name: PeerName, command: string, minor: string): Peer => ({
  name,
  module: `kubernetes-${minor}`,
  package: `k8s.io/kubernetes/cmd/${command}`,
  command,
  versionOf: 'k8s.io/kubernetes',
  // Without these kubeadm takes itself for v0.0.0-master and refuses every cluster version.
  linkerVariables: [
    'k8s.io/component-base/version.gitVersion=VERSION',
    'k8s.io/component-base/version.gitMajor=1',
    `k8s.io/component-base/version.gitMinor=${minor.split('.')[1] ?? ''}`,
    'k8s.io/component-base/version.gitTreeState=clean',
  ],
})

/** A library: the module has a short program of ours that calls it. */
const caller = (name: PeerName, versionOf: string): Peer => ({
  name,
  module: name,
  package: '.',
  command: name,
  versionOf,
  linkerVariables: [],
})

const catalogue: Readonly<Record<PeerName, Peer>> = {
  cadvisor: caller('cadvisor', 'github.com/google/cadvisor/lib'),
  containerd: containerd('containerd'),
  'containerd-shim-runc-v2': containerd('containerd-shim-runc-v2'),
  ctr: containerd('ctr'),
  crictl: criTools('crictl'),
  critest: { ...criTools('critest'), isTest: true },
  etcd: {
    name: 'etcd',
    module: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    command: 'etcd',
    versionOf: 'go.etcd.io/etcd/server/v3',
    linkerVariables: [],
  },
  'kube-apiserver': kubernetes('kube-apiserver', 'kube-apiserver', '1.37'),
  'kubeadm-1.35': kubernetes('kubeadm-1.35', 'kubeadm', '1.35'),
  'kubeadm-1.36': kubernetes('kubeadm-1.36', 'kubeadm', '1.36'),
  'kubeadm-1.37': kubernetes('kubeadm-1.37', 'kubeadm', '1.37'),
  'metrics-server': caller('metrics-server', 'sigs.k8s.io/metrics-server'),
}

export const peerOf = (name: PeerName): Peer => catalogue[name]
