// /metrics/resource: processor and memory of node, pods and containers, for metrics-server.
import type { Stats } from '../../stats/create-stats.js'
import { expositionType } from '../../stats/render/exposition.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders } from '../failures.js'
import { scrapeTimeoutMs } from './stats-summary.js'

export const metricsResource = (stats: Pick<Stats, 'resource'>): Endpoint => ({
  name: 'metrics/resource',
  path: '/metrics/resource',
  methods: ['GET'],
  readOnly: true,
  timeoutMs: scrapeTimeoutMs,
  async handle() {
    const body = await stats.resource(scrapeTimeoutMs / 2)
    return { status: 200, headers: { ...safeHeaders, 'content-type': expositionType }, body }
  },
})
