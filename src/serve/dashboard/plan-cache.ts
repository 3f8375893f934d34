// What Memory QoS intends, read from time to time: it walks the whole tree, and changes far less often than usage does.
import type { LiveReport } from '../../core/memory-qos/effective-values.js'
import type { Clock } from '../../ports/clock.js'

const everyNanos = 5_000_000_000n

export function createPlanCache(clock: Clock, read: () => LiveReport): () => LiveReport {
  let kept: { readonly at: bigint; readonly report: LiveReport } | undefined
  return () => {
    const at = clock.monotonicNanos()
    if (kept === undefined || at - kept.at > everyNanos) kept = { at, report: read() }
    return kept.report
  }
}
