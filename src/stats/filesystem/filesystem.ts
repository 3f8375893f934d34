// Usage of a filesystem, as the summary shows it and as the families of a container's writable layer.
import type { FsCapacity } from '../../ports/stats-files.js'
import { diskFamilies as f } from '../catalogue/disk.js'
import type { Emit, ExtraLabels } from '../catalogue/family.js'

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

/** The filesystem under a container's writable layer. */
export interface ContainerFs extends FsUsage {
  readonly device: ExtraLabels
}

export function emitContainerFs(fs: ContainerFs, emit: Emit): void {
  if (fs.usedBytes !== undefined) emit(f.container_fs_usage_bytes, fs.usedBytes, fs.device)
  if (fs.capacityBytes !== undefined) emit(f.container_fs_limit_bytes, fs.capacityBytes, fs.device)
  if (fs.inodes !== undefined) emit(f.container_fs_inodes_total, fs.inodes, fs.device)
  if (fs.inodesFree !== undefined) emit(f.container_fs_inodes_free, fs.inodesFree, fs.device)
}
