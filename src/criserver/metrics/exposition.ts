// The Prometheus text of the same series that the RPC gives, with the fractions that CRI has no room for (KEP-2371).
import { inTurns } from '../../core/units/turns.js'
import { createExposition, formatTimestamp } from '../../stats/render/exposition.js'
import type { TextPieces } from '../../stats/render/text-bytes.js'
import { podsWrittenATurn } from '../../stats/sample.js'
import type { Services } from '../services.js'
import { collectMetrics } from './collect.js'
import type { CollectedMetrics } from './source.js'

async function formatSeries({ pods }: Pick<CollectedMetrics, 'pods'>): Promise<TextPieces> {
  const into = createExposition()
  await inTurns(pods, podsWrittenATurn, (collect) => {
    const { pod, containers } = collect()
    for (const series of [pod, ...containers.values()])
      for (const { family, labels, extra, value, timeNanos } of series)
        into.add(family, labels.block(extra), value, formatTimestamp(timeNanos))
  })
  return into.pieces()
}

/** For the endpoint that kubelet and companion have too. Errors: those of the runtime. */
export const createCadvisorText = (services: Services) => ({
  async cadvisor(waitMs: number): Promise<TextPieces> {
    const signal = AbortSignal.timeout(waitMs)
    const ask = () => services.metricsSource.upstreamMetrics(signal)
    const collected = await collectMetrics(ask, services, signal)
    return await formatSeries(collected)
  },
})
