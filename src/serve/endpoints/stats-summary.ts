// /stats/summary: node, pods and containers as JSON of stats/v1alpha1; `only_cpu_and_memory=true` is the light form.
import { asKeelsonError } from '../../core/errors.js'
import type { Stats } from '../../stats/create-stats.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders, textAnswer } from '../failures.js'

/** Callers give up after 10 s; the first one after a start waits for at most half of that. */
export const scrapeTimeoutMs = 10_000

/** Exactly one value, in lower case: anything else is the full form. */
const isLight = (query: URLSearchParams): boolean => {
  const values = query.getAll('only_cpu_and_memory')
  return values.length === 1 && values[0] === 'true'
}

export const statsSummary = (stats: Pick<Stats, 'summary'>): Endpoint => ({
  name: 'stats/summary',
  path: '/stats/summary',
  methods: ['GET', 'POST'],
  readOnly: true,
  timeoutMs: scrapeTimeoutMs,
  async handle(_request, { query }) {
    try {
      const body = await stats.summary(!isLight(query), scrapeTimeoutMs / 2)
      return { status: 200, headers: { ...safeHeaders, 'content-type': 'application/json' }, body }
    } catch (e) {
      const error = asKeelsonError(e)
      if (error.code !== 'stats.node-unreadable') throw e
      return textAnswer(`Internal Error: ${error.message}\n`, 500)
    }
  },
})
