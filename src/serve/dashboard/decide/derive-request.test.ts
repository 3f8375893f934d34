import { expect, test } from 'vitest'
import { GiB, MiB } from '../../../core/units/bytes.js'
import { deriveRequest, type RequestTraces } from './derive-request.js'

const rows: readonly [
  string,
  Omit<RequestTraces, 'memoryCapacity'>,
  number | undefined,
  bigint | undefined,
  string | undefined,
][] = [
  [
    'Memory QoS with memory.min',
    { cpuShares: 512n, memoryMin: 100n * MiB, oomScoreAdj: 975 },
    500,
    100n * MiB,
    'memory.min',
  ],
  ['Memory QoS with memory.low', { memoryMin: 0n, memoryLow: 64n * MiB }, undefined, 64n * MiB, 'memory.low'],
  ['Guaranteed', { cpuShares: 1024n, oomScoreAdj: -997, memoryLimit: GiB }, 1000, GiB, 'limit'],
  ['Burstable', { cpuShares: 102n, oomScoreAdj: 975 }, 100, (4n * GiB * 25n) / 1000n, 'oom_score_adj'],
  ['a request too small to see', { cpuShares: 2n, oomScoreAdj: 999 }, undefined, undefined, undefined],
  ['BestEffort', { cpuShares: 2n, oomScoreAdj: 1000 }, undefined, undefined, undefined],
  ['nothing known', {}, undefined, undefined, undefined],
]

test.each(rows)('%s', (_, traces, cpuMilli, memory, from) => {
  expect(deriveRequest({ memoryCapacity: 4n * GiB, ...traces })).toEqual({ cpuMilli, memory, from })
})
