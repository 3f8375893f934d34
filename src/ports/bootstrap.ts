// What `keelson node` needs from outside: the files of one node (perhaps below another root), the cluster's
// few objects, runtime sockets, and the kubelet's service. All paths are absolute as the node itself sees them.

export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

interface NodeFileStat {
  readonly kind: 'file' | 'directory' | 'other'
  /** Permission bits only. */
  readonly mode: number
  readonly owner: FileOwner
}

export interface NodeFiles {
  /** Undefined: no such file. A symbolic link is followed inside the root. */
  read(path: string): Promise<Uint8Array | undefined>
  stat(path: string): Promise<NodeFileStat | undefined>
  /** Where a path really is after its links, still as the node sees it. Undefined: nothing there. */
  resolve(path: string): Promise<string | undefined>
  /** Parents included; what has to be created gets the mode. Returns the directories that were created, outermost first. */
  makeDirectory(path: string, mode: number): Promise<readonly string[]>
  /** A new file, whole and on disk when this returns. An existing file of that name is overwritten. */
  write(path: string, content: Uint8Array, mode: number, owner?: FileOwner): Promise<void>
  /** Where the link leads that this path itself is; undefined: nothing there. Something else there is an error. */
  readLink(path: string): Promise<string | undefined>
  /** A link of this name, whatever was there before. */
  writeLink(path: string, target: string): Promise<void>
  /** Atomic, and on disk when this returns. A link at either end is moved or replaced itself, not followed. */
  rename(from: string, to: string): Promise<void>
  /** Not there is not an error. */
  remove(path: string): Promise<void>
  /** Only when it is empty; otherwise nothing happens. */
  removeEmptyDirectory(path: string): Promise<void>
  /** Names in a directory in lexical order; undefined: no such directory. */
  list(path: string): Promise<readonly string[] | undefined>
  /** Everything below a directory; links inside are removed, never followed. */
  removeContents(path: string): Promise<void>
  /** Held until released; another living holder is `node.busy`. */
  lock(path: string): Promise<() => Promise<void>>
}

interface ClusterNode {
  readonly annotations: Readonly<Record<string, string>>
}

/** Names are of the namespace kube-system. */
export interface ClusterObjects {
  /** Undefined: no such ConfigMap. */
  readConfigMap(name: string): Promise<Readonly<Record<string, string>> | undefined>
  /** Sets keys and keeps the others; creates the ConfigMap when there is none. */
  writeConfigMap(name: string, data: Readonly<Record<string, string>>): Promise<void>
  deleteConfigMap(name: string): Promise<void>
  /** Undefined: the node is not registered. */
  readNode(name: string): Promise<ClusterNode | undefined>
  /** Undefined takes the annotation away. */
  annotateNode(name: string, key: string, value: string | undefined): Promise<void>
}

export interface RuntimeSockets {
  /** True when the endpoint takes a connection; a dead socket file does not count. */
  answers(endpoint: string): Promise<boolean>
  /** True when this user may not open the endpoint, so it is unknown whether a runtime responds. */
  isDenied(endpoint: string): Promise<boolean>
}

/** What a runtime says about itself; undefined: it does not speak CRI v1 there. */
export interface RuntimeAnswer {
  readonly name: string
  readonly version: string
  readonly runtimeConfig: 'known' | 'unimplemented' | 'failed'
}

export interface RuntimeOfNode {
  describe(endpoint: string): Promise<RuntimeAnswer | undefined>
  /** Stops and removes every pod sandbox; what could not be removed comes back as text. */
  removePods(endpoint: string): Promise<{ readonly removed: number; readonly problems: readonly string[] }>
}

export interface KubeletService {
  /** False: there is no service manager or no such unit here, so there was nothing to do. */
  stop(): Promise<boolean>
  start(): Promise<boolean>
  /** Its unit's name; undefined: none runs here, and none was started. */
  restartIfActive(): Promise<string | undefined>
  /** The arguments of the running kubelet, without its name; undefined: none runs. */
  runningArguments(): Promise<readonly string[] | undefined>
}

/** Units of the service manager of this machine. */
export interface NodeServices {
  /** False: no service manager runs here, or work happens below another root. */
  available(): Promise<boolean>
  /** Unit files are read again. */
  reload(): Promise<void>
  isActive(unit: string): Promise<boolean>
  /** Started, or started again when it runs. */
  restart(unit: string): Promise<void>
  /** A unit that is not known is not an error. */
  stop(unit: string): Promise<void>
}

export interface NodeMounts {
  /** Unmounts everything mounted below a directory, innermost first; throws when something stays mounted. */
  unmountBelow(path: string): Promise<readonly string[]>
}

/** What preflight looks at besides sockets and files. */
export interface HostFacts {
  readonly os: 'linux' | 'windows'
  readonly hostname: string
  readonly kernelRelease: string | undefined
  readonly cgroupV2: boolean | undefined
  readonly kubeletVersion: string | undefined
  /** Undefined: work happens below another root, where it does not matter who runs it. */
  readonly privileged: boolean | undefined
}

export interface NodePorts {
  readonly files: NodeFiles
  readonly sockets: RuntimeSockets
  readonly runtime: RuntimeOfNode
  readonly kubelet: KubeletService
  readonly services: NodeServices
  readonly mounts: NodeMounts
  /** Undefined: no kubeconfig was given; changes to the cluster are printed instead. */
  readonly cluster: ClusterObjects | undefined
  /** Reads the user's files, which are not the node's: relative to where the command was started. */
  readonly input: {
    read(path: string): Promise<string>
    /** Every file below a directory, in the order of a walk with sorted names. */
    walk(path: string): Promise<readonly { readonly name: string; readonly text: string }[]>
  }
  host(): Promise<HostFacts>
  /** A short word for names that must be unique, from the clock and chance. */
  uniqueSuffix(): string
  now(): Date
}
