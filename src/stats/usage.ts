// Usage of a container, a pod or the node in the terms of CRI and of /stats/summary. Undefined means unknown, which is
// not the same as 0. Every part has the time at which it was read.

export interface PsiLine {
  readonly totalNanos: bigint
  readonly avg10: number
  readonly avg60: number
  readonly avg300: number
}

export interface Psi {
  readonly some: PsiLine
  readonly full: PsiLine
}

export interface CpuUsage {
  readonly timeNanos: bigint
  readonly usageCoreNanoSeconds: bigint | undefined
  readonly usageNanoCores: bigint | undefined
  readonly psi: Psi | undefined
}

export interface MemoryUsage {
  readonly timeNanos: bigint
  readonly availableBytes: bigint | undefined
  readonly usageBytes: bigint | undefined
  readonly workingSetBytes: bigint | undefined
  readonly rssBytes: bigint | undefined
  readonly pageFaults: bigint | undefined
  readonly majorPageFaults: bigint | undefined
  readonly psi: Psi | undefined
}

export interface SwapUsage {
  readonly timeNanos: bigint
  readonly availableBytes: bigint | undefined
  readonly usageBytes: bigint | undefined
}

export interface IoUsage {
  readonly timeNanos: bigint
  readonly psi: Psi
}

export interface InterfaceUsage {
  readonly name: string
  readonly rxBytes: bigint | undefined
  readonly rxErrors: bigint | undefined
  readonly txBytes: bigint | undefined
  readonly txErrors: bigint | undefined
  /** Packets, where the runtime counts them: on Windows, instead of errors. */
  readonly rxDropped?: bigint | undefined
  readonly txDropped?: bigint | undefined
}

export interface NetworkUsage {
  readonly timeNanos: bigint
  readonly defaultInterface: InterfaceUsage | undefined
  /** Without the default one. */
  readonly interfaces: readonly InterfaceUsage[]
}

export interface ProcessUsage {
  readonly timeNanos: bigint
  readonly processCount: bigint
}

/** What a cgroup, or a runtime, says about one container, pod or slice. */
export interface Usage {
  readonly cpu: CpuUsage | undefined
  readonly memory: MemoryUsage | undefined
  readonly swap: SwapUsage | undefined
  readonly io: IoUsage | undefined
}
