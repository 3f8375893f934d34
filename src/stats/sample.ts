// What one pass over the node found, whatever the source. A sample never changes once it is published.
import type { FsUsage } from './filesystem/filesystem.js'
import type { Exposition } from './render/exposition.js'
import type { LabelSets } from './render/label-set.js'
import type { SeriesWriter, Switches } from './render/series-writer.js'
import type { ContainerInfo, PodInfo } from './runtime/inventory.js'
import type { NetworkUsage, ProcessUsage, Usage } from './usage.js'

export type SourceName = 'cri' | 'cgroup'

export interface ContainerSample {
  readonly info: ContainerInfo
  readonly usage: Usage
  /** Where the runtime's stats include it. */
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
  /** Listed containers without values. */
  readonly missing: number
}

/** How many pods are written between two turns of the event loop: the text of a full node takes longer than a request may wait. */
export const podsWrittenATurn = 16

/** Series of pods and containers, printed on request. */
export interface MetricsSample {
  readonly source: SourceName
  readonly timeNanos: bigint
  readonly missing: number
  write(into: Exposition): Promise<void>
}

export interface SystemContainer {
  /** `kubelet`, `runtime`, `pods`, `misc`. */
  readonly name: string
  readonly startTimeNanos: bigint
  readonly usage: Usage
}

/** The node as a whole: from the kernel, whatever the source of the pods; without cgroups as runtime-node.ts has it. */
export interface NodeSample {
  readonly timeNanos: bigint
  /** When the machine was booted. */
  readonly startTimeNanos: bigint
  readonly usage: Usage
  readonly network: NetworkUsage | undefined
  readonly rlimit:
    | { readonly timeNanos: bigint; readonly maxPid: bigint; readonly processes: bigint | undefined }
    | undefined
  readonly systemContainers: readonly SystemContainer[]
}

/** A sample of the node, with its series and those of its slices. */
export interface NodeReading {
  readonly sample: NodeSample
  write(labelSets: LabelSets, write: SeriesWriter, switches: Switches): void
}

export interface NodeFilesystems {
  readonly node: FsUsage | undefined
  readonly image: FsUsage | undefined
  readonly container: FsUsage | undefined
}
