// Families of the filesystem under a container's writable layer.
import { diskFamilies as f } from '../catalogue/disk.js'
import type { Emit, ExtraLabels } from '../catalogue/family.js'
import type { FsUsage } from './filesystem.js'

export interface ContainerFs extends FsUsage {
  readonly device: ExtraLabels
}

export function emitContainerFs(fs: ContainerFs, emit: Emit): void {
  if (fs.usedBytes !== undefined) emit(f.container_fs_usage_bytes, fs.usedBytes, fs.device)
  if (fs.capacityBytes !== undefined) emit(f.container_fs_limit_bytes, fs.capacityBytes, fs.device)
  if (fs.inodes !== undefined) emit(f.container_fs_inodes_total, fs.inodes, fs.device)
  if (fs.inodesFree !== undefined) emit(f.container_fs_inodes_free, fs.inodesFree, fs.device)
}
