// What Keelson reads below /proc and /sys apart from cgroups. Readers are synchronous: the files are memory.
// Undefined means that the kernel does not have it, or that the process has gone.

import type { CpuInfo } from '../core/kernel-text/cpuinfo.js'
import type { DiskStats } from '../core/kernel-text/diskstats.js'
import type { MemInfo } from '../core/kernel-text/meminfo.js'
import type { MountInfo } from '../core/kernel-text/mountinfo.js'
import type { NetDev } from '../core/kernel-text/net-dev.js'
import type { KernelRecord } from '../core/kernel-text/oom-kill.js'
import type { Pressure } from '../core/kernel-text/pressure.js'
import type { CgroupMembership } from '../core/kernel-text/proc-cgroup.js'
import type { MaxOpenFiles } from '../core/kernel-text/proc-limits.js'
import type { ProcStat } from '../core/kernel-text/proc-stat.js'

export interface OpenFiles {
  readonly descriptors: number
  readonly sockets: number
}

interface PidLimits {
  readonly pidMax: bigint
  readonly threadsMax: bigint
}

export interface Procfs {
  cpuInfo(): CpuInfo
  memInfo(): MemInfo
  stat(): ProcStat
  diskStats(): readonly DiskStats[]
  mountInfo(pid?: number): readonly MountInfo[] | undefined
  /** Interfaces of the network namespace that the process is in. */
  netDev(pid: number): readonly NetDev[] | undefined
  pidLimits(): PidLimits
  /** The soft limit of the process. */
  maxOpenFiles(pid: number): MaxOpenFiles
  /** Names the network namespace of a process, or of this one: equal text, same namespace. */
  networkNamespace(pid?: number): string | undefined
  /** Tasks of the whole machine: the number after the slash in /proc/loadavg. */
  taskCount(): bigint | undefined
  /** State letter (`R`, `S`, `D`, ...) -> threads of the process in it. */
  taskStates(pid: number): ReadonlyMap<string, number> | undefined
  /** Counted from /proc/PID/fd, at most maxDescriptors entries. */
  openFiles(pid: number): OpenFiles | undefined
  /** A process of the kernel, which has no program; also one that has just ended. */
  isKernelThread(pid: number): boolean
  cgroupOf(pid: number): CgroupMembership | undefined
  /** Kernel release, e.g. `6.1.0-18-amd64`. */
  osRelease(): string
  /** `vm.overcommit_memory` -> text of its file below /proc/sys. */
  sysctl(name: string): string | undefined
  /** Base page size in bytes, never a huge page's. */
  pageSize(): bigint
  /** `8:0` -> `sda`. */
  deviceName(majorMinor: string): string | undefined
  /** Node-wide PSI: /proc/pressure/NAME. Undefined: the kernel has no PSI, or it is switched off. */
  pressure(resource: 'cpu' | 'memory' | 'io'): Pressure | undefined
}

/** The kernel's own log, and how often the OOM killer has acted. */
export interface KernelLog {
  /** Kills since the boot; undefined: the kernel does not count them. */
  oomKills(): bigint | undefined
  /** Begins with the oldest record that is still there. Undefined: it may not be read. */
  openRecords(): KernelRecords | undefined
}

export interface KernelRecords {
  /** The next ones, about so many at most. `isLast`: there are no more now. */
  next(most: number): { readonly records: readonly KernelRecord[]; readonly isLast: boolean }
  close(): void
}
