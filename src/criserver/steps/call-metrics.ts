// Counts calls into the RPC table and the process's metrics. A step inside that throws becomes a status here, so that it is
// counted as well.

import { asKeelsonError } from '../../core/errors.js'
import type { CallEnding } from '../../ports/cri-calls.js'
import { isEndless, latencyBuckets } from '../rpc-table.js'
import type { Step } from '../services.js'

export const callMetrics: Step = ({ clock, log, metrics, table }) => {
  const calls = metrics.counter(
    'keelson_cri_calls_total',
    'Calls through the CRI server: forwarded, completed or answered, by gRPC code.',
    ['rpc', 'maker', 'code'],
  )
  const seconds = metrics.histogram(
    'keelson_cri_call_duration_seconds',
    'Time from the first byte of a call to the end of its answer.',
    latencyBuckets,
    ['rpc'],
  )
  const inProgress = metrics.gauge('keelson_cri_calls_under_way', 'Calls in progress.')
  return async (call, next) => {
    const begun = clock.monotonicNanos()
    inProgress.inc()
    let ending: CallEnding
    try {
      ending = await next(call)
    } catch (e) {
      const error = asKeelsonError(e)
      if (error.code === 'internal.unexpected')
        log.error('internal error in a call', { path: call.path, error })
      ending = await call.fail(e)
    } finally {
      inProgress.dec()
    }
    const rpc = table.nameOf(call.path)
    const took = Number(clock.monotonicNanos() - begun) / 1e9
    calls.inc({ rpc, maker: ending.maker, code: String(ending.code) })
    if (!isEndless(call.path)) seconds.observe(took, { rpc })
    table.record(call.path, ending, took)
    return ending
  }
}
