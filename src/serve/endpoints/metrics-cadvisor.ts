// /metrics/cadvisor: the container_* and machine_* families, for Prometheus.
import type { Stats } from '../../stats/create-stats.js'
import { expositionType } from '../../stats/exposition.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders } from '../failures.js'
import { scrapeTimeoutMs } from './stats-summary.js'

export const metricsCadvisor = (stats: Pick<Stats, 'cadvisor'>): Endpoint => ({
  name: 'metrics/cadvisor',
  path: '/metrics/cadvisor',
  methods: ['GET'],
  readOnly: true,
  timeoutMs: scrapeTimeoutMs,
  async handle() {
    const body = await stats.cadvisor(scrapeTimeoutMs / 2)
    return { status: 200, headers: { ...safeHeaders, 'content-type': expositionType }, body }
  },
})
