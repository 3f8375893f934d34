// The page of `npm run bench -- probes`: lateness of requests, medians over turns, and a target that is missed.
import { expect, test } from 'vitest'
import type { PartUsage } from '../bench/kubelet/usage.js'
import type { ProbeTurn, Stack } from '../bench/probes/inside.js'
import { formatProbes } from '../bench/probes/page.js'
import { latenessOf } from '../bench/probes/server.js'

const usage = (cpuS: number): PartUsage => ({
  kubelet: { cpuS, rssMiB: 100 },
  containerd: { cpuS: 1, rssMiB: 50 },
  shims: { cpuS: 1, rssMiB: 500 },
  server: { cpuS: 0, rssMiB: 0 },
})
const turn = (stack: Stack, cpuS: number, lateness: readonly number[]): ProbeTurn => {
  const probes = { count: 600, lateness }
  return { stack, windowMs: 30_000, usage: usage(cpuS), probes: { http: probes, grpc: probes, exec: probes } }
}

test('a request is late by what is beyond its period; one that comes early is not late', () => {
  expect(latenessOf([0, 1_000, 2_150, 2_990, 4_000], 1_000)).toEqual([0, 150, 0, 10])
  expect(latenessOf([5], 1_000)).toEqual([])
})

test('CPU per minute, lateness against the upstream kubelet or 100 ms', () => {
  const turns = [turn('upstream', 2, [1, 2]), turn('keelson', 3, [1, 120]), turn('upstream', 2, [1, 3])]
  const page = formatProbes(turns, { command: 'c', pods: 110, execPods: 10, turns: 2, load: 1 })
  const row = (name: string): readonly string[] | undefined => page.rows.find((r) => r[0] === name)
  expect(row('CPU of the kubelet')).toEqual(['CPU of the kubelet', '4.00 s/min', '6.00 s/min', '1.50x'])
  expect(row('grpc: probes per second')?.[1]).toBe('20.0')
  expect(row('httpGet: lateness p99')).toEqual(['httpGet: lateness p99', '3.0 ms', '120.0 ms', '40.00x'])
  expect(page.targets).toEqual([
    { name: 'CPU of the kubelet, Keelson against upstream', measured: '1.50x', limit: '<= 1x', met: false },
    ...['httpGet', 'grpc', 'exec'].map((kind) => ({
      name: `${kind}, lateness p99, Keelson`,
      measured: '120.0 ms',
      limit: '<= 100.0 ms',
      met: false,
    })),
  ])
})
