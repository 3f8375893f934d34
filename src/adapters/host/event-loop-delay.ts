// How long work of this process waits for its event loop: while one part computes, no other answers. Measured by a timer that
// Node keeps outside of JavaScript.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from '../../ports/metrics.js'

/** Each wake-up costs the processor 40 us. A delay that ends before the next one is not seen. */
const RESOLUTION_MS = 50
/** A maximum since the start would show the start for ever. */
const WINDOW_MS = 300_000

const quantiles = [0.5, 0.99, 1]

/** Node counts from one wake-up to the next. */
const secondsOf = (histogram: IntervalHistogram, quantile: number): number => {
  const nanos = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100)
  return Math.max(0, nanos / 1e9 - RESOLUTION_MS / 1e3)
}

/** Adds keelson_event_loop_delay_seconds, of the last five to ten minutes when it is read at least that often. */
export function exposeEventLoopDelay(metrics: Pick<Metrics, 'gauge'>): void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let since = performance.now()
  let before = new Map<number, number>()
  metrics.gauge(
    'keelson_event_loop_delay_seconds',
    'Time that work waited for the event loop of the process during the last minutes.',
    ['quantile'],
    (gauge) => {
      const now = new Map(quantiles.map((q) => [q, histogram.count === 0 ? 0 : secondsOf(histogram, q)]))
      for (const [q, seconds] of now)
        gauge.set(q === 1 ? Math.max(seconds, before.get(q) ?? 0) : seconds, { quantile: String(q) })
      if (performance.now() - since < WINDOW_MS) return
      since = performance.now()
      before = now
      histogram.reset()
    },
  )
}
