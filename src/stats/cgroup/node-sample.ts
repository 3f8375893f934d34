// The node as a whole, as the summary and the resource metrics show it. From the kernel, whatever the source of the
// pods' values is; where there are no cgroups, only what runtime-node.ts knows.
import type { FsUsage } from '../filesystem/filesystem.js'
import type { NetworkUsage, Usage } from '../usage.js'

export interface SystemContainer {
  /** `kubelet`, `runtime`, `pods`, `misc`. */
  readonly name: string
  readonly startTimeNanos: bigint
  readonly usage: Usage
}

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

export interface NodeFilesystems {
  readonly node: FsUsage | undefined
  readonly image: FsUsage | undefined
  readonly container: FsUsage | undefined
}
