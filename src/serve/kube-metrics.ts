// Calls to the API server as client-go counts them, for dashboards and alerts that people have.
import type { Metrics } from '../ports/metrics.js'

const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

interface FinishedCall {
  readonly host: string
  readonly method: string
  /** HTTP status, or `<error>`. */
  readonly code: string
  readonly seconds: number
}

export function countCalls(metrics: Metrics): (call: FinishedCall) => void {
  const total = metrics.counter(
    'rest_client_requests_total',
    '[ALPHA] Calls to the API server by status code, method and host.',
    ['code', 'host', 'method'],
  )
  const duration = metrics.histogram(
    'rest_client_request_duration_seconds',
    '[ALPHA] Seconds until the API server answered, by method and host.',
    buckets,
    ['host', 'verb'],
  )
  return ({ host, method, code, seconds }) => {
    total.inc({ code, host, method })
    duration.observe(seconds, { host, verb: method })
  }
}
