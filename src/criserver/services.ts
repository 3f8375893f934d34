// What the steps and methods of one CRI server share, put together once at the start.
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { RpcTable } from './rpc-table.js'

export type Mode = 'complete' | 'observe'

export interface Services {
  readonly mode: Mode
  readonly table: RpcTable
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Log
}
