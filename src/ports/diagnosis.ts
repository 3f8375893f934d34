// What the doctor asks of this machine besides cgroups, /proc and the runtime: the kubelet's process, its ports as a
// stranger sees them, and who may read its files.
import type { KubeNode, Lease } from '../core/kube/objects.js'

export interface KubeletProcess {
  readonly pid: number
  /** Whose kubelet: upstream's binary or `keelson kubelet`. */
  readonly kind: 'upstream' | 'keelson'
  readonly args: readonly string[]
  /** Relative paths of the command line are relative to it. */
  readonly cwd: string
}

export interface PortQuestion {
  readonly what: 'kubelet' | 'read-only' | 'healthz'
  readonly address: string
  readonly port: number
  readonly tls: boolean
  /** Asked with GET and without any credential. */
  readonly path: string
}

export interface PortAnswer extends PortQuestion {
  /** The HTTP status; `closed`: no listener; `silent`: no HTTP response in time. */
  readonly answer: number | 'closed' | 'silent'
}

export interface FileMode {
  readonly path: string
  /** Permission bits only. */
  readonly mode: number
  readonly uid: number
}

/** What the cluster says about this node; undefined: not known. */
export interface ClusterAnswer {
  /** `https://10.0.0.1:6443`; undefined: the kubeconfig cannot be used. */
  readonly server: string | undefined
  /** Why the API server, or the kubeconfig, could not be used; undefined: it answered. */
  readonly problem: string | undefined
  /** Of the client certificate; undefined: there is none, or it cannot be read. */
  readonly certificate: { readonly notBeforeMs: number; readonly notAfterMs: number } | undefined
  /** The API server's clock less ours. */
  readonly skewMs: number | undefined
  readonly node: KubeNode | undefined
  readonly lease: Lease | undefined
}

export interface Diagnosis {
  kubeletProcess(): Promise<KubeletProcess | undefined>
  ask(question: PortQuestion, timeoutMs: number): Promise<PortAnswer>
  /** Files that are there, in the order asked. */
  fileModes(paths: readonly string[]): Promise<readonly FileMode[]>
  changeMode(path: string, mode: number): Promise<void>
}
