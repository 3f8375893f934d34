// The metrics of a command that runs for ever: those of its process, and the delay of its event loop.
import { exposeEventLoopDelay } from '../../adapters/host/event-loop-delay.js'
import type { Metrics } from '../../ports/metrics.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'

export async function createDaemonMetrics(): Promise<Metrics> {
  const metrics = await createProcessMetrics()
  exposeEventLoopDelay(metrics)
  return metrics
}
