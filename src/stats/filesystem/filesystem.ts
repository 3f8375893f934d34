// Filesystem values as the summary has them.
import type { FsCapacity } from '../../ports/stats-files.js'

export interface FsUsage {
  readonly timeNanos: bigint
  readonly availableBytes: bigint | undefined
  readonly capacityBytes: bigint | undefined
  readonly usedBytes: bigint | undefined
  readonly inodesFree: bigint | undefined
  readonly inodes: bigint | undefined
  readonly inodesUsed: bigint | undefined
}

export interface VolumeUsage extends FsUsage {
  readonly name: string
  readonly pvcRef: { readonly name: string; readonly namespace: string } | undefined
  /** Its space is the node's own: it counts as ephemeral storage. */
  readonly isLocalEphemeral: boolean
}

/** What something uses, on a filesystem with this capacity. */
export const withCapacity = (
  timeNanos: bigint,
  used: { readonly bytes: bigint | undefined; readonly inodes: bigint | undefined },
  capacity: FsCapacity | undefined,
): FsUsage => ({
  timeNanos,
  availableBytes: capacity?.availableBytes,
  capacityBytes: capacity?.capacityBytes,
  usedBytes: used.bytes,
  inodesFree: capacity?.inodesFree,
  inodes: capacity?.inodes,
  inodesUsed: used.inodes,
})

const sum = (values: readonly (bigint | undefined)[]): bigint | undefined => {
  const known = values.filter((v) => v !== undefined)
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0n)
}

const compareTimes = (a: bigint, b: bigint): number => (a < b ? -1 : 1)

/** Parts of the same filesystem as one: what they use together, and the newest of their times. */
export function addUp(parts: readonly FsUsage[], whole: FsUsage | undefined): FsUsage | undefined {
  if (parts.length === 0) return undefined
  return {
    timeNanos:
      parts
        .map((p) => p.timeNanos)
        .sort(compareTimes)
        .at(-1) ?? 0n,
    availableBytes: whole?.availableBytes,
    capacityBytes: whole?.capacityBytes,
    usedBytes: sum(parts.map((p) => p.usedBytes)),
    inodesFree: whole?.inodesFree,
    inodes: whole?.inodes,
    inodesUsed: sum(parts.map((p) => p.inodesUsed)),
  }
}
