// /cri/rpcs: the table of RPCs and of repaired values as JSON. The same values are in /metrics as keelson_cri_*.
import type { Endpoint } from '../../serve/endpoint.js'
import { jsonAnswer } from '../../serve/failures.js'
import type { Services } from '../services.js'

const round = (ms: number): number => Math.round(ms * 1000) / 1000

export const rpcs = (
  { table, mode, repairs }: Pick<Services, 'table' | 'mode' | 'repairs'>,
  upstream: string,
): Endpoint => ({
  name: 'cri/rpcs',
  path: '/cri/rpcs',
  methods: ['GET'],
  handle: () =>
    jsonAnswer({
      mode,
      values: repairs.mode,
      repaired: repairs.repaired(),
      upstream,
      rpcs: table.rows().map((row) => ({
        ...row,
        meanMs: round(row.meanMs),
        p50Ms: round(row.p50Ms),
        p99Ms: round(row.p99Ms),
        maxMs: round(row.maxMs),
      })),
    }),
})
