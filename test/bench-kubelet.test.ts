// The page of `npm run bench -- kubelet`, from turns made up here: medians, percentiles, ratios, and a target that is missed.
import { expect, test } from 'vitest'
import { percentile } from '../bench/kubelet/measures.js'
import { formatPage } from '../bench/kubelet/page.js'
import type { StackName } from '../bench/kubelet/stack.js'
import type { Turn } from '../bench/kubelet/turn.js'
import type { PartUsage } from '../bench/kubelet/usage.js'

const usage = (cpuS: number): PartUsage => ({
  kubelet: { cpuS, rssMiB: 100 },
  containerd: { cpuS: 1, rssMiB: 50 },
  shims: { cpuS: 1, rssMiB: 500 },
  server: { cpuS: 0, rssMiB: 0 },
})

const turn = (stack: StackName, cpuS: number, singlePodMs: readonly number[]): Turn => ({
  stack,
  healthyMs: 500,
  healthyCpuS: cpuS,
  singlePodMs,
  manyMs: 20_000,
  many: usage(cpuS),
  rest: usage(cpuS),
  scraped: usage(cpuS),
  stopPodsMs: 8_000,
  stopPods: usage(cpuS),
  stopKubeletMs: 50,
})

test('a percentile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect(percentile(values, 0.5)).toBe(50)
  expect(percentile(values, 0.99)).toBe(99)
  expect(percentile([7], 0.99)).toBe(7)
})

test('medians over turns, ratios to the upstream kubelet, and missed targets as missed', () => {
  const turns = [
    turn('upstream', 4, [300, 310]),
    turn('keelson', 1, [290, 400]),
    turn('upstream', 6, [320, 330]),
    turn('keelson', 3, [280, 410]),
    turn('upstream', 5, [305, 315]),
    turn('keelson', 2, [285, 405]),
  ]
  const options = {
    turns: 3,
    pods: 110,
    singlePods: 2,
    windowMs: 60_000,
    runtime: 'containerd-1.6',
    node: '24',
    load: 0.1,
  }
  const page = formatPage(turns, options)
  const row = (name: string): readonly string[] | undefined => page.rows.find((r) => r[0] === name)
  expect(page.columns).toEqual(['what', 'upstream kubelet', 'Keelson', 'ratio'])
  expect(row('at rest: CPU of the kubelet')).toEqual([
    'at rest: CPU of the kubelet',
    '5.00 s/min',
    '2.00 s/min',
    '0.40x',
  ])
  expect(row('one pod, p50')?.[1]).toBe('310 ms')
  expect(row('110 pods to running')?.[3]).toBe('1.00x')
  // A stack without the server has no ratio of it.
  expect(row('at rest: CPU of the server')?.[3]).toBe('')
  const target = page.targets.find((t) => t.name.startsWith('at rest: CPU of the kubelet, Keelson'))
  expect(target).toMatchObject({ measured: '0.40x', limit: '<= 0.3x', met: false })
})
