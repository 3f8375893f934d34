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
  /**
   * How it is built: `go` (static, without C), `go test` (its package is a test binary), `go with C`, or `C` (the files
   * below `package`, a folder of the module).
   */
  readonly build: 'go' | 'go test' | 'go with C' | 'C'
  readonly tags?: readonly string[]
  /** Development files that the C parts need. */
  readonly libraries?: readonly Library[]
}

export interface Library {
  readonly pkgConfig: string
  readonly debianPackage: string
}

export const peerNames = [
  'agnhost',
  'cadvisor',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'containerd-1.7',
  'containerd-shim-runc-v2-1.7',
  'ctr-1.7',
  'coredns',
  'cri-o',
  'crictl',
  'critest',
  'e2e',
  'e2e-node',
  'etcd',
  'ginkgo',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubeadm-1.35',
  'kubeadm-1.36',
  'kubeadm-1.37',
  'kubectl',
  'kubelet',
  'metrics-server',
  'metrics-server-client',
  'pinns',
  'runc',
  'sample-device-plugin',
] as const
export type PeerName = (typeof peerNames)[number]

export const moduleRoot = join(import.meta.dirname, '..', 'go')

const containerd = (command: string): Omit<Peer, 'name'> => ({
  module: 'containerd',
  package: `github.com/containerd/containerd/v2/cmd/${command}`,
  command,
  versionOf: 'github.com/containerd/containerd/v2',
  linkerVariables: ['github.com/containerd/containerd/v2/version.Version=VERSION'],
  build: 'go',
})

/** The last series with CRI as one plugin: clusters still run it. */
const containerd17 = (command: string): Omit<Peer, 'name'> => ({
  module: 'containerd-1.7',
  package: `github.com/containerd/containerd/cmd/${command}`,
  command,
  versionOf: 'github.com/containerd/containerd',
  linkerVariables: ['github.com/containerd/containerd/version.Version=VERSION'],
  build: 'go',
})

const criTools = (command: string): Omit<Peer, 'name'> => ({
  module: 'cri-tools',
  package: `sigs.k8s.io/cri-tools/cmd/${command}`,
  command,
  versionOf: 'sigs.k8s.io/cri-tools',
  linkerVariables: ['sigs.k8s.io/cri-tools/pkg/version.Version=VERSION'],
  build: 'go',
})

const kubernetes = (command: string, minor = '1.37', folder = 'cmd'): Omit<Peer, 'name'> => ({
  module: `kubernetes-${minor}`,
  package: `k8s.io/kubernetes/${folder}/${command}`,
  command,
  versionOf: 'k8s.io/kubernetes',
  // Without these kubeadm takes itself for v0.0.0-master and refuses every cluster version, and specs with a least
  // version of the kubelet are skipped.
  linkerVariables: [
    'k8s.io/component-base/version.gitVersion=VERSION',
    'k8s.io/component-base/version.gitMajor=1',
    `k8s.io/component-base/version.gitMinor=${minor.split('.')[1] ?? ''}`,
    'k8s.io/component-base/version.gitTreeState=clean',
  ],
  build: 'go',
})

/** Kubernetes' own suites: one test binary each, with all their data inside. */
const suite = (folder: string): Omit<Peer, 'name'> => ({
  ...kubernetes(folder, '1.37', 'test'),
  command: `${folder}.test`,
  build: 'go test',
})

/** A library: the module has a short program of ours that calls it. */
const caller = (module: string, versionOf: string): Omit<Peer, 'name'> => ({
  module,
  package: '.',
  command: module,
  versionOf,
  linkerVariables: [],
  build: 'go',
})

const seccomp: Library = { pkgConfig: 'libseccomp', debianPackage: 'libseccomp-dev' }
const gpgme: Library = { pkgConfig: 'gpgme', debianPackage: 'libgpgme-dev' }

const criO: Omit<Peer, 'name'> = {
  module: 'cri-o',
  package: 'github.com/cri-o/cri-o/cmd/crio',
  command: 'crio',
  versionOf: 'github.com/cri-o/cri-o',
  linkerVariables: [],
  build: 'go with C',
  tags: [
    'containers_image_openpgp',
    'exclude_graphdriver_btrfs',
    'exclude_graphdriver_devicemapper',
    'btrfs_noversion',
    'seccomp',
  ],
  libraries: [seccomp, gpgme],
}

const catalogue: Readonly<Record<PeerName, Omit<Peer, 'name'>>> = {
  agnhost: kubernetes('agnhost', '1.37', 'test/images'),
  cadvisor: caller('cadvisor', 'github.com/google/cadvisor/lib'),
  containerd: containerd('containerd'),
  'containerd-shim-runc-v2': containerd('containerd-shim-runc-v2'),
  ctr: containerd('ctr'),
  'containerd-1.7': containerd17('containerd'),
  'containerd-shim-runc-v2-1.7': containerd17('containerd-shim-runc-v2'),
  'ctr-1.7': containerd17('ctr'),
  coredns: caller('coredns', 'github.com/coredns/coredns'),
  'cri-o': criO,
  crictl: criTools('crictl'),
  critest: { ...criTools('critest'), build: 'go test' },
  e2e: suite('e2e'),
  'e2e-node': suite('e2e_node'),
  etcd: {
    module: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    command: 'etcd',
    versionOf: 'go.etcd.io/etcd/server/v3',
    linkerVariables: [],
    build: 'go',
  },
  ginkgo: {
    module: 'kubernetes-1.37',
    package: 'github.com/onsi/ginkgo/v2/ginkgo',
    command: 'ginkgo',
    versionOf: 'github.com/onsi/ginkgo/v2',
    linkerVariables: [],
    build: 'go',
  },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-proxy': kubernetes('kube-proxy'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  'kubeadm-1.35': kubernetes('kubeadm', '1.35'),
  'kubeadm-1.36': kubernetes('kubeadm', '1.36'),
  'kubeadm-1.37': kubernetes('kubeadm'),
  kubectl: kubernetes('kubectl'),
  kubelet: kubernetes('kubelet'),
  'metrics-server': {
    module: 'metrics-server',
    package: 'sigs.k8s.io/metrics-server/cmd/metrics-server',
    command: 'metrics-server',
    versionOf: 'sigs.k8s.io/metrics-server',
    linkerVariables: ['k8s.io/client-go/pkg/version.gitVersion=VERSION'],
    build: 'go',
  },
  'metrics-server-client': caller('metrics-server', 'sigs.k8s.io/metrics-server'),
  // CRI-O's helper that keeps namespaces alive.
  pinns: {
    module: 'cri-o',
    package: 'pinns/src',
    command: 'pinns',
    versionOf: 'github.com/cri-o/cri-o',
    linkerVariables: [],
    build: 'C',
  },
  runc: {
    module: 'runc',
    package: 'github.com/opencontainers/runc',
    command: 'runc',
    versionOf: 'github.com/opencontainers/runc',
    linkerVariables: ['main.version=VERSION'],
    build: 'go with C',
    tags: ['seccomp'],
    libraries: [seccomp],
  },
  'sample-device-plugin': kubernetes('sample-device-plugin', '1.37', 'test/images'),
}

export const peerOf = (name: PeerName): Peer => ({ name, ...catalogue[name] })
