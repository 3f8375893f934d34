// What the steps and methods of one CRI server share, put together once at the start.
import type { CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { CallEnding, CallHandler, ServerCall } from '../ports/cri-calls.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { CriClient } from '../ports/runtime.js'
import type { Repairs } from '../stats/repair/repairs.js'
import type { FindRuntimeName } from '../stats/runtime/runtime-name.js'
import type { FindDriver } from './driver/find.js'
import type { ContainerEvents } from './events/container-events.js'
import type { MetricsSource } from './metrics/source.js'
import type { RpcTable } from './rpc-table.js'
import type { Values } from './stats/read-values.js'
import type { CgroupFinder } from './unified/cgroup-of.js'
import type { UnifiedWriter } from './unified/write-missing.js'

/** `observe`: forward everything as it is and record what the runtime lacks. */
export type Mode = 'complete' | 'observe'

export interface Services {
  readonly version: string
  readonly mode: Mode
  readonly table: RpcTable
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Log
  /** Our own questions to the runtime. */
  readonly client: CriClient
  readonly findDriver: FindDriver
  readonly cgroups: CgroupTree
  readonly cgroupFinder: CgroupFinder
  readonly unified: UnifiedWriter
  readonly pageSize: bigint
  readonly values: Values
  readonly metricsSource: MetricsSource
  readonly findRuntimeName: FindRuntimeName
  readonly repairs: Repairs
  readonly events: ContainerEvents
  /** Undefined: no HTTP server. */
  readonly metricsUrl: () => string | undefined
}

/** One step of the chain. It answers the call, or hands it to the next step. */
export type Step = (services: Services) => (call: ServerCall, next: CallHandler) => Promise<CallEnding>
