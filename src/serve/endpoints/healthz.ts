// /healthz and its parts: is this process doing its work? The same unit serves the main, read-only and health port.
import type { Log } from '../../ports/log.js'
import type { Endpoint } from '../endpoint.js'
import { failure, textAnswer } from '../failures.js'
import { formatHealth, type Health } from '../health.js'

export function healthz(health: Health, log: Log): readonly Endpoint[] {
  const handle: Endpoint['handle'] = async (request, { params, query, signal }) => {
    const results = await health.run(params.check, signal)
    if (results === undefined) return failure(request, 404, `no health check is named ${params.check ?? ''}`)
    const failed = results.filter((r) => r.problem !== undefined)
    if (failed.length > 0)
      log.warn('health check failed', {
        checks: Object.fromEntries(failed.map((r) => [r.name, r.problem])),
      })
    return textAnswer(formatHealth(results, query.has('verbose')), failed.length > 0 ? 500 : 200)
  }
  return [
    { name: 'healthz', path: '/healthz', methods: ['GET'], readOnly: true, timeoutMs: 10_000, handle },
    {
      name: 'healthz/check',
      path: '/healthz/{check}',
      methods: ['GET'],
      readOnly: true,
      timeoutMs: 10_000,
      handle,
    },
  ]
}
