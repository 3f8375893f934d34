// /metrics: our own process. /metrics/probes: what the kubelet's probes have found. /metrics/slis: the state of the health checks, asked anew on each scrape.
import type { Metrics } from '../../ports/metrics.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders } from '../failures.js'
import type { Health } from '../health.js'

const answer = async (metrics: Metrics) => {
  const { contentType, body } = await metrics.text()
  return { status: 200, headers: { ...safeHeaders, 'content-type': contentType }, body }
}

export const ownMetrics = (metrics: Metrics): Endpoint => ({
  name: 'metrics',
  path: '/metrics',
  methods: ['GET'],
  readOnly: true,
  handle: () => answer(metrics),
})

export const probeMetrics = (metrics: Metrics): Endpoint => ({
  name: 'metrics/probes',
  path: '/metrics/probes',
  methods: ['GET'],
  readOnly: true,
  handle: () => answer(metrics),
})

export const slis = (metrics: Metrics, health: Health): Endpoint => ({
  name: 'metrics/slis',
  path: '/metrics/slis',
  methods: ['GET'],
  readOnly: true,
  async handle(_, { signal }) {
    await health.run(undefined, signal)
    return answer(metrics)
  },
})
