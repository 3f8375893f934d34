// What values of filesystems are made of: capacity of the one under a path, and what a directory holds.

export interface FsCapacity {
  readonly capacityBytes: bigint
  /** For those who are not root. */
  readonly availableBytes: bigint
  readonly inodes: bigint
  readonly inodesFree: bigint
  /** What is mounted there: `/dev/sda1`, or `tmpfs`. */
  readonly device: string
}

export interface DirectoryUsage {
  readonly bytes: bigint
  readonly inodes: bigint
  /** False: the bound was reached, so both are too small. */
  readonly complete: boolean
}

export interface UsageOptions {
  /** Entries looked at. */
  readonly maxEntries: number
  /** Default true: with everything below. */
  readonly recursive?: boolean
  readonly signal?: AbortSignal
}

/** Labels of the machine_* metrics; empty where the machine does not say. */
interface MachineIds {
  readonly machineId: string
  readonly systemUuid: string
  readonly bootId: string
}

export interface StatsFiles {
  machineIds(): Promise<MachineIds>
  /** Undefined: no such path. */
  capacity(path: string): Promise<FsCapacity | undefined>
  /** Space on disk; stays on the directory's own filesystem and follows no links. Undefined: no such directory. */
  usage(directory: string, options: UsageOptions): Promise<DirectoryUsage | undefined>
  /** Names of the sub-directories. Undefined: no such directory. */
  directories(directory: string): Promise<readonly string[] | undefined>
}
