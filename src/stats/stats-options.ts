// Everything that the stats of a node need.
import type { ValuesMode } from '../core/cri/values-mode.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { Procfs } from '../ports/procfs.js'
import type { CriClient } from '../ports/runtime.js'
import type { StatsFiles } from '../ports/stats-files.js'
import type { MachineFacts } from './render/machine-metrics.js'
import type { SwitchRequest } from './render/series-writer.js'
import type { LookHere } from './runtime/local-look.js'

export interface StatsOptions {
  readonly nodeName: string
  readonly client: CriClient
  /** Where images have a service of their own. */
  readonly imageClient?: CriClient
  /** Undefined on Windows: then the runtime is the only source. */
  readonly cgroups?: CgroupTree
  readonly procfs: Procfs
  readonly files: StatsFiles
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Gate PodAndContainerStatsFromCRI. */
  readonly fromCri: boolean
  /** Where the CRI server runs in this process. */
  readonly lookHere?: LookHere | undefined
  /** What is done about wrong values of the runtime. Default `repair`. */
  readonly values?: ValuesMode
  /** The gate is off in a release in which it is beta or later. */
  readonly cgroupSourceIsDeprecated?: boolean
  /** Gate CRIListStreaming. */
  readonly streaming?: boolean
  /** Gate HugepageAwareEviction. */
  readonly hugepageAware?: boolean
  /** Profile upstream: what cAdvisor answers where Keelson would omit a value or know a better one. Default false. */
  readonly asCadvisor?: boolean
  /** Default 10,000. */
  readonly periodMs?: number
  /** Logs, volumes, layers. Default 60,000, as volumeStatsAggPeriod. */
  readonly filesystemPeriodMs?: number
  /** Default 30,000: containerd takes ten seconds for the metrics of 110 pods. */
  readonly statsTimeoutMs?: number
  /** Default 5,000. */
  readonly listTimeoutMs?: number
  /** `/kubepods`, or `/kubepods.slice`. */
  readonly podRoots?: readonly CgroupPath[]
  readonly slices?: readonly CgroupPath[]
  readonly systemContainers?: Readonly<Record<string, CgroupPath>>
  /** Default /var/lib/kubelet. */
  readonly rootDir?: string
  /** Default /var/log/pods. */
  readonly podLogsDir?: string
  /** Files that one round over logs and volumes may look at. Default 200,000. */
  readonly maxWalkedFiles?: number
  /** A process in the node's network namespace. Default 1. */
  readonly hostPid?: number
  readonly machine?: MachineFacts
  readonly switches?: SwitchRequest
}
