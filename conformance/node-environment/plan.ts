// What a node environment is made of: a node's worth of private namespaces on this host, with a container runtime, a
// registry and one command that runs inside. The plan crosses into the namespaces as JSON.
export const runtimes = ['containerd-1.6', 'containerd-1.7', 'containerd-2', 'cri-o'] as const
/** Of the suites of Kubernetes. */
export const suiteRuntimes = ['containerd-1.6', 'containerd-2'] as const
export type RuntimeName = (typeof runtimes)[number]

/** On this host in private namespaces, or in the lab's UML machines, which have a kernel with cgroup v2 of their own. */
export const places = ['host', 'uml', 'uml-systemd'] as const
export const suitePlaces = ['host', 'uml'] as const
export type Place = (typeof places)[number]

export interface Hierarchy {
  /** Below /sys/fs/cgroup; '' for the one hierarchy of cgroup v2. */
  readonly name: string
  readonly type: 'cgroup' | 'cgroup2'
  /** Options that mount it again: controllers, or the name of a hierarchy without any. */
  readonly options: readonly string[]
}

export interface ContainerdPrograms {
  readonly kind: 'containerd'
  readonly containerd: string
  readonly ctr: string
  readonly runc: string
  /** Directory with containerd-shim-runc-v2. */
  readonly shims: string
}
export interface CrioPrograms {
  readonly kind: 'cri-o'
  readonly crio: string
  readonly pinns: string
  readonly conmon: string
  readonly runc: string
}
export type RuntimePrograms = ContainerdPrograms | CrioPrograms

export interface EnvironmentPlan {
  readonly place: Place
  /** On the host; inside it is `insideDirectory`. Needs a file system that overlayfs can write to. */
  readonly directory: string
  /** Of the environment's cgroup in every hierarchy, and of the node. */
  readonly name: string
  readonly hierarchies: readonly Hierarchy[]
  /** Host directory of the cache with peers and images; inside it is at `insideCache`. */
  readonly cache: string
  readonly runtime: RuntimeName
  /** Paths inside the environment. */
  readonly programs: RuntimePrograms
  readonly imageLayout: string
  /** Imported before the command runs; without it images are pulled when a spec asks for them. */
  readonly imageArchive?: string
  /** How often containerd 2 reads the CPU of every container for itself, such as `1m`; its default is a second. */
  readonly collectPeriod?: string
  /** Stand-ins for systemd-run and systemctl; without them the environment has neither. */
  readonly systemdStandIns: boolean
  /** Directories of kubelet, runtime and pods are on a file system of this size that has nothing else; default: on that of `directory`. */
  readonly diskGiB?: number
  /** A system bus with systemd-logind; default: neither. */
  readonly logind?: boolean
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** /mnt exists on every Debian; in the environment it is a file system of its own. */
export const insideDirectory = '/mnt/node'
/** The program of the environment, at its path inside. */
export const insideBundle = `${insideDirectory}/inside.mjs`
export const insideCache = '/mnt/cache'
export const runtimeSocket = '/run/containerd/containerd.sock'
/** Each at its own default path: the upstream kubelet knows CRI-O by it. */
export const socketOf = (runtime: RuntimeName): string =>
  runtime === 'cri-o' ? '/run/crio/crio.sock' : runtimeSocket
/** The cgroup driver of a place: systemd where systemd is the first process. */
export const driverOf = (place: Place): 'cgroupfs' | 'systemd' =>
  place === 'uml-systemd' ? 'systemd' : 'cgroupfs'
export const nodeAddress = '10.77.0.1'
/** With room for 500 pods. */
export const podSubnet = '10.100.0.0/22'
export const registryPort = 5999

/** Cgroup hierarchies of a host, from its /proc/self/mountinfo. */
export function parseHierarchies(mountinfo: string): Hierarchy[] {
  const root = '/sys/fs/cgroup'
  return mountinfo.split('\n').flatMap((line): Hierarchy[] => {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = before.split(' ')[4] ?? ''
    const [type, , superOptions = ''] = after.split(' ')
    if (!(mountPoint === root || mountPoint.startsWith(`${root}/`))) return []
    const name = mountPoint.slice(root.length + 1)
    if (type === 'cgroup2') return [{ name, type, options: [] }]
    if (type !== 'cgroup') return []
    const controllers = superOptions.split(',').filter((o) => !ignored.has(o))
    const isNamed = controllers.some((o) => o.startsWith('name='))
    return [{ name, type, options: isNamed ? ['none', ...controllers] : controllers }]
  })
}

const ignored = new Set(['rw', 'ro', 'xattr', 'clone_children'])
