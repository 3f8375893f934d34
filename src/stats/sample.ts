// What one pass over the node found. A sample never changes once it is published.

import type { Exposition } from './render/exposition.js'
import type { ContainerInfo, PodInfo } from './runtime/inventory.js'
import type { NetworkUsage, ProcessUsage, Usage } from './usage.js'

export type SourceName = 'cri' | 'cgroup'

export interface ContainerSample {
  readonly info: ContainerInfo
  readonly usage: Usage
  /** Where the runtime gives it together with the rest. */
  readonly writableLayer: LayerUsage | undefined
}

export interface LayerUsage {
  readonly timeNanos: bigint
  /** A path on the host inside the filesystem that holds the layer. */
  readonly mountpoint: string
  readonly usedBytes: bigint | undefined
  readonly inodesUsed: bigint | undefined
}

export interface PodSample {
  readonly info: PodInfo
  readonly usage: Usage
  readonly network: NetworkUsage | undefined
  readonly processes: ProcessUsage | undefined
  readonly containers: readonly ContainerSample[]
}

export interface StatsSample {
  readonly source: SourceName
  readonly timeNanos: bigint
  readonly pods: readonly PodSample[]
  /** Pods and containers that were listed but of which nothing could be read. */
  readonly missing: number
}

/** Series of pods and containers, printed when somebody asks. */
export interface MetricsSample {
  readonly source: SourceName
  readonly timeNanos: bigint
  readonly missing: number
  write(into: Exposition): void
}
