// What Keelson needs from the kernel's cgroup files, whatever the version (v1, v2) and the driver (cgroupfs, systemd).
// Missing is a value here: a file that is not there, or whose cgroup has just gone, reads as undefined.

/** Absolute inside the hierarchy, e.g. `/kubepods/burstable/pod1` or `/kubepods.slice`; `/` is the root of the tree. */
export type CgroupPath = string

/** File name inside a cgroup, e.g. `memory.high` (v2) or `memory.limit_in_bytes` (v1). */
export type ControlFile = string

/** What is to be written, in this order: control file -> text as the kernel takes it. */
export type ControlValues = Readonly<Record<ControlFile, string>>

export interface EnsureOptions {
  /** Must be usable in the new cgroup. Default: every controller that the root has and that we use. */
  readonly controllers?: readonly string[]
  readonly signal?: AbortSignal
}

export interface RemoveOptions {
  /** How long to wait for a cgroup to become free. Default 2,000 ms. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Ends the processes that are still in it. Default: they are waited for. */
  readonly killProcesses?: boolean
}

export interface WalkOptions {
  /** Levels below the start. Default 16. */
  readonly maxDepth?: number
  /** Cgroups in all; the walk stops there. Default 100,000. */
  readonly maxCgroups?: number
  /** A cgroup of such a name is in the result, and not looked into. */
  readonly isLeaf?: (name: string) => boolean
  /** v1: only the first hierarchy that has a cgroup is looked at, not all of them. */
  readonly inOneHierarchy?: boolean
}

export interface CgroupTree {
  /** Says which control files exist: v2 names or v1 names. */
  readonly version: 'v1' | 'v2'
  /** Kept descriptor, shared buffer: the bytes are valid until the next read. Undefined: no such file, or gone. */
  read(path: CgroupPath, file: ControlFile): Uint8Array | undefined
  /** One write call. Errors: cgroup.denied, .gone, .busy, .invalid-value, .controller-missing. */
  write(path: CgroupPath, file: ControlFile, value: string): void
  exists(path: CgroupPath): boolean
  /** v2: cgroup.controllers of this cgroup. v1: hierarchies that hold it. Undefined: no such cgroup. */
  controllers(path: CgroupPath): readonly string[] | undefined
  /** Names of the direct children, sorted. Undefined: no such cgroup. */
  children(path: CgroupPath): readonly string[] | undefined
  /** The cgroup itself and everything below it, parents first, children in name order. */
  walk(path: CgroupPath, options?: WalkOptions): readonly CgroupPath[]
  /** A directory with its controllers enabled along the way, or a slice through systemd. Nothing to do is not an error. */
  ensure(path: CgroupPath, options?: EnsureOptions): Promise<void>
  /**
   * Moves a process with its threads into the cgroup, in every hierarchy; a missing cgroup is created as a plain
   * directory, also under systemd. Memory that the process has already stays counted where it was.
   */
  addProcess(path: CgroupPath, pid: number): void
  /** Writes several values so that they last: under systemd also as properties of the slice. */
  apply(path: CgroupPath, values: ControlValues, signal?: AbortSignal): Promise<void>
  /** Removes the cgroup and the empty ones below it. Already gone is not an error; processes inside are cgroup.busy. */
  remove(path: CgroupPath, options?: RemoveOptions): Promise<void>
  /** Ends the kept descriptors of a cgroup that is gone: an open file keeps it in the kernel. It may be read again. */
  forget(path: CgroupPath): void
  /** Ends the kept descriptors. */
  close(): void
}
