// What the doctor asks of this machine besides cgroups, /proc and the runtime: the kubelet's process, its ports as a
// stranger sees them, and who may read its files.

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

export interface Diagnosis {
  kubeletProcess(): Promise<KubeletProcess | undefined>
  ask(question: PortQuestion, timeoutMs: number): Promise<PortAnswer>
  /** Files that are there, in the order asked. */
  fileModes(paths: readonly string[]): Promise<readonly FileMode[]>
  changeMode(path: string, mode: number): Promise<void>
}
