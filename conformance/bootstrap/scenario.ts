// One situation of KEP-4656 as data: what a node and its cluster look like, and the command that is run on it.
// The same scenario drives kubeadm and Keelson, each on a private root of its own.

export const minors = ['1.35', '1.36', '1.37'] as const
export type Minor = (typeof minors)[number]

export type NodeCommand = 'init' | 'join' | 'upgrade node' | 'upgrade apply' | 'reset'

export type ToolName = 'kubeadm' | 'keelson'

export interface Scenario {
  readonly name: string
  readonly command: NodeCommand
  readonly minors: readonly Minor[]
  /** Who refuses the command, by minor; nothing is compared where one does and the other does not. */
  readonly refusedBy?: Partial<Record<Minor, readonly ToolName[]>>
  /** Name of the explanation in docs/conformance.md when only one of them refuses. */
  readonly refusalDiffersBy?: string
  /** featureGates.NodeLocalCRISocket of the cluster; absent: not named. */
  readonly gate?: boolean
  /** nodeRegistration.criSocket (criSocket of reset). */
  readonly criSocket?: string
  /** Well-known endpoints that accept connections inside the private root. */
  readonly listening?: readonly string[]
  /** Files of the node before the command, by absolute path inside the root. */
  readonly files?: Readonly<Record<string, string>>
  /** The Node's annotation before the command. */
  readonly annotation?: string
  /** Patch files for --patches, by file name. */
  readonly patches?: Readonly<Record<string, string>>
  /** Keys of the cluster's KubeletConfiguration on top of the common ones. */
  readonly kubelet?: Readonly<Record<string, unknown>>
}

export const annotationName = 'kubeadm.alpha.kubernetes.io/cri-socket'
export const kubeletDirectory = '/var/lib/kubelet'

/** What a command leaves behind; compared item by item. */
export interface NodeState {
  /** Text by path inside the root, for everything below the kubelet's directory. */
  readonly files: Readonly<Record<string, string>>
  readonly modes: Readonly<Record<string, string>>
  /** Names of what else lies below /etc/kubernetes: kubeconfigs, certificates, manifests. */
  readonly kubernetesFiles: readonly string[]
  /** Texts of the backups below /etc/kubernetes/tmp; their directory names carry the time. */
  readonly backups: readonly string[]
  readonly annotation: string | undefined
  readonly kubeletConfigMap: string | undefined
  readonly kubeadmConfigMap: string | undefined
}
