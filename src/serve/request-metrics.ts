// Counts and times requests under names and labels of the upstream kubelet. Labels come from our own lists and
// never from what a caller sent.
import type { RefusedReason } from '../ports/http.js'
import type { Metrics } from '../ports/metrics.js'
import type { Endpoint } from './endpoint.js'

export type ServerType = 'readwrite' | 'readonly' | 'health'

export interface RequestMetrics {
  /** Counts a request as under way; the result ends it, after so many seconds. */
  begin(request: RequestLabels): (seconds: number) => void
  refused(reason: RefusedReason, serverType: ServerType): void
}

interface RequestLabels {
  readonly method: string
  /** Undefined: no endpoint has this path. */
  readonly endpoint: Endpoint | undefined
  readonly serverType: ServerType
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const methodLabel = (method: string): string => (methods.has(method) ? method : 'other')
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const names = ['method', 'path', 'server_type', 'long_running']
  const total = metrics.counter(
    'kubelet_http_requests_total',
    'Requests answered since the process started.',
    names,
  )
  const duration = metrics.histogram(
    'kubelet_http_requests_duration_seconds',
    'Time from the first line of a request to the end of its response.',
    seconds,
    names,
  )
  const inFlight = metrics.gauge('kubelet_http_inflight_requests', 'Requests under way.', names)
  const refused = metrics.counter(
    'keelson_http_connections_refused_total',
    'Connections cut before they became a request, by reason.',
    ['reason', 'server_type'],
  )
  return {
    begin({ method, endpoint, serverType }) {
      const labels = {
        method: methodLabel(method),
        path: endpoint?.name ?? 'other',
        server_type: serverType,
        long_running: String(endpoint?.longRunning === true),
      }
      inFlight.inc(labels)
      return (taken) => {
        inFlight.dec(labels)
        total.inc(labels)
        duration.observe(taken, labels)
      }
    },
    refused: (reason, serverType) => refused.inc({ reason, server_type: serverType }),
  }
}
