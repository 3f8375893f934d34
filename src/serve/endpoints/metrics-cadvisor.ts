// /metrics/cadvisor: the container_* and machine_* families, for Prometheus.
import { asKeelsonError } from '../../core/errors.js'
import type { Stats } from '../../stats/create-stats.js'
import { expositionType } from '../../stats/render/exposition.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders, textAnswer } from '../failures.js'
import { scrapeTimeoutMs } from './stats-summary.js'

export const metricsCadvisor = (stats: Pick<Stats, 'cadvisor'>): Endpoint => ({
  name: 'metrics/cadvisor',
  path: '/metrics/cadvisor',
  methods: ['GET'],
  readOnly: true,
  timeoutMs: scrapeTimeoutMs,
  async handle() {
    try {
      const body = await stats.cadvisor(scrapeTimeoutMs / 2)
      return { status: 200, headers: { ...safeHeaders, 'content-type': expositionType }, body }
    } catch (e) {
      // The CRI server has no other source: without its runtime there is nothing to show, and that is not its own failure.
      const { code, message } = asKeelsonError(e)
      if (!code.startsWith('runtime.')) throw e
      return textAnswer(`Service Unavailable: ${message}\n`, 503)
    }
  },
})
