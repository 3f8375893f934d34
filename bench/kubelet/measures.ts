// What is read out of the turns of one stack: each measure has a name, a unit and the median, or a percentile, over the turns.
import type { Usage } from '../process-usage.js'
import { median } from '../unit.js'
import type { Turn } from './turn.js'
import { type PartName, type PartUsage, totalOf } from './usage.js'

interface Measure {
  readonly unit: 's' | 'ms' | 's/min' | 'MiB'
  /** Not a number: no turn measured it. */
  readonly of: (turns: readonly Turn[]) => number
}

const overTurns = (unit: Measure['unit'], of: (turn: Turn) => number | undefined): Measure => ({
  unit,
  of: (turns) => median(turns.flatMap((turn) => of(turn) ?? [])),
})

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
}

const singles = (share: number): Measure => ({
  unit: 'ms',
  of: (turns) =>
    percentile(
      turns.flatMap((t) => t.singlePodMs),
      share,
    ),
})

const longestOf = (of: (turn: Turn) => number | undefined): Measure => ({
  unit: 'ms',
  of: (turns) =>
    percentile(
      turns.flatMap((t) => of(t) ?? []),
      1,
    ),
})

type UsageOf = (turn: Turn) => PartUsage | undefined

const partOf = (usage: PartUsage | undefined, part: PartName | undefined): Usage | undefined =>
  usage === undefined || part === undefined ? usage && totalOf(usage) : usage[part]

const cpu = (unit: Measure['unit'], usage: UsageOf, part?: PartName): Measure =>
  overTurns(unit, (t) => partOf(usage(t), part)?.cpuS)

const memory = (usage: UsageOf, part?: PartName): Measure =>
  overTurns('MiB', (t) => partOf(usage(t), part)?.rssMiB)

const seconds = (ms: number | undefined): number | undefined => ms && ms / 1000

/** In the order of the page. */
export const measures = {
  'start to healthy': overTurns('ms', (t) => t.healthyMs),
  'CPU until healthy': overTurns('ms', (t) => t.healthyCpuS * 1000),
  'CPU until healthy, first start': overTurns('ms', (t) => t.firstCpuS && t.firstCpuS * 1000),
  'one pod, p50': singles(0.5),
  'one pod, p99': singles(0.99),
  'many pods to running': overTurns('s', (t) => seconds(t.manyMs)),
  'many pods to running: CPU of the kubelet': cpu('s', (t) => t.many, 'kubelet'),
  'many pods to running: CPU of containerd': cpu('s', (t) => t.many, 'containerd'),
  'many pods to running: CPU of shims': cpu('s', (t) => t.many, 'shims'),
  'many pods to running: CPU of the server': cpu('s', (t) => t.many, 'server'),
  'at rest: CPU of the kubelet': cpu('s/min', (t) => t.rest, 'kubelet'),
  'at rest: CPU of containerd': cpu('s/min', (t) => t.rest, 'containerd'),
  'at rest: CPU of shims': cpu('s/min', (t) => t.rest, 'shims'),
  'at rest: CPU of the server': cpu('s/min', (t) => t.rest, 'server'),
  'at rest: CPU of all': cpu('s/min', (t) => t.rest),
  'at rest: memory of the kubelet': memory((t) => t.rest, 'kubelet'),
  'three endpoints: CPU of the kubelet': cpu('s/min', (t) => t.scraped, 'kubelet'),
  'three endpoints: CPU of containerd': cpu('s/min', (t) => t.scraped, 'containerd'),
  'three endpoints: CPU of shims': cpu('s/min', (t) => t.scraped, 'shims'),
  'three endpoints: CPU of the server': cpu('s/min', (t) => t.scraped, 'server'),
  'three endpoints: CPU of all': cpu('s/min', (t) => t.scraped),
  'three endpoints: memory of the kubelet': memory((t) => t.scraped, 'kubelet'),
  'three endpoints: memory of containerd': memory((t) => t.scraped, 'containerd'),
  'three endpoints: memory of shims': memory((t) => t.scraped, 'shims'),
  'three endpoints: memory of the server': memory((t) => t.scraped, 'server'),
  'three endpoints: memory of all': memory((t) => t.scraped),
  'longest delay of the event loop': longestOf((t) => t.loop?.delayMs ?? t.loopDelayMs),
  'longest block of the event loop': longestOf((t) => t.loop?.blockMs),
  'most CPU in one turn of the event loop': longestOf((t) => t.loop?.workMs),
  'stop of many pods': overTurns('s', (t) => seconds(t.stopPodsMs)),
  'stop of many pods: CPU of the kubelet': cpu('s', (t) => t.stopPods, 'kubelet'),
  'stop of the kubelet': overTurns('ms', (t) => t.stopKubeletMs),
} as const satisfies Readonly<Record<string, Measure>>

export type MeasureName = keyof typeof measures
export const measureNames = Object.keys(measures) as MeasureName[]
