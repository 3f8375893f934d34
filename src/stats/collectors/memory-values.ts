// Memory of one cgroup, whatever the version of the files it came from.
import { type Limit, minus } from './amounts.js'

/** Page faults of the cgroup itself, and with everything below it. */
interface Faults {
  readonly own: bigint
  readonly withChildren: bigint
}

export interface MemoryValues {
  readonly usage: bigint
  readonly workingSet: bigint
  readonly rss: bigint
  readonly cache: bigint
  readonly mappedFile: bigint
  readonly activeFile: bigint
  readonly inactiveFile: bigint
  readonly pageFaults: Faults
  readonly majorPageFaults: Faults
  /** As the summary counts them: the whole cgroup. */
  readonly kernel: bigint
  readonly peak: bigint
  readonly failures: bigint
  readonly limit: Limit | undefined
  /** Amount that reclaim leaves alone. */
  readonly reservation: Limit | undefined
  readonly swapLimit: Limit | undefined
  /** Undefined: the kernel does not account for swap here. */
  readonly swap: SwapValues | undefined
  readonly oomKills: bigint | undefined
  /** v2 only. */
  readonly events: { readonly high: bigint; readonly max: bigint } | undefined
  readonly reclaim: ReclaimValues | undefined
}

export interface SwapValues {
  readonly usage: bigint
  /** Undefined: no limit on swap, or it is not known. */
  readonly available: bigint | undefined
}

export interface ReclaimValues {
  readonly fileDirty: bigint
  readonly fileWriteback: bigint
  readonly pgscan: bigint
  readonly pgsteal: bigint
  readonly refaultAnon: bigint
  readonly refaultFile: bigint
}

/** What the kernel could not take back at once. inactive_file may be ahead of usage: both are kept loosely. */
export const workingSet = (usage: bigint, inactiveFile: bigint): bigint => minus(usage, inactiveFile)

/** Undefined without a limit. Never below 0: usage may pass a limit that was lowered. */
export const availableBelow = (limit: Limit | undefined, used: bigint): bigint | undefined =>
  limit === undefined || limit === 'unlimited' ? undefined : minus(limit, used)
