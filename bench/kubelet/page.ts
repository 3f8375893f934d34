// The page of the comparison: a row for each measure, a column for each stack, and its ratio to the upstream kubelet.
import { atMost, type BenchReport } from '../unit.js'
import { type MeasureName, measureNames, measures } from './measures.js'
import { type StackName, stackNames, stackTitles } from './stack.js'
import { targets } from './targets.js'
import type { Turn } from './turn.js'

const baseline: StackName = 'upstream'

export interface PageOptions {
  readonly turns: number
  readonly pods: number
  readonly singlePods: number
  readonly windowMs: number
  readonly command: string
}

const formatValue = (value: number, unit: string): string => {
  if (unit === 'ms' || unit === 'MiB') return `${value.toFixed(0)} ${unit}`
  return `${value.toFixed(2)} ${unit}`
}

/** A share of nothing says nothing. */
const formatRatio = (value: number, base: number): string =>
  base === 0 || value === 0 ? '' : `${(value / base).toFixed(2)}x`

export function formatPage(turns: readonly Turn[], o: PageOptions): BenchReport {
  const stacks = stackNames.filter((stack) => turns.some((t) => t.stack === stack))
  const value = (measure: MeasureName, stack: StackName): number =>
    measures[measure].of(turns.filter((t) => t.stack === stack))
  const others = stacks.filter((stack) => stack !== baseline)
  const row = (measure: MeasureName): string[] => {
    const base = value(measure, baseline)
    const { unit } = measures[measure]
    const cells = others.flatMap((stack) => {
      const own = value(measure, stack)
      return [formatValue(own, unit), formatRatio(own, base)]
    })
    return [measure.replace('many pods', `${o.pods} pods`), formatValue(base, unit), ...cells]
  }
  return {
    file: 'kubelet',
    title: 'Keelson beside the upstream kubelet',
    command: o.command,
    method: [
      `Both kubelets in turns on the same containerd 1.6 of Debian, in one node environment of private namespaces on this host: static pods, no API server, cgroupfs. Medians of ${o.turns} turns; the turn begins with an empty runtime.`,
      `A pod runs when its container has executed its first command, which is seen by a file that it writes: neither kubelet nor runtime is asked. One pod: from the manifest's appearance, ${o.singlePods} pods one after the other in each turn, percentiles over all turns.`,
      `At rest: ${o.pods} pods, ${(o.windowMs / 1000).toFixed(0)} s without a request; then the same with /metrics/cadvisor, /metrics/resource and /stats/summary every 10 s. CPU per minute, of the processes themselves; shims are with the runc that they run. Memory is resident. The server is \`keelson cri\`.`,
      `Stop: from the removal of all manifests until the last sandbox has ended.`,
    ].join(' '),
    columns: ['what', stackTitles[baseline], ...others.flatMap((stack) => [stackTitles[stack], 'ratio'])],
    rows: measureNames.map(row),
    targets: targets
      .filter(({ stack }) => others.includes(stack))
      .map(({ measure, stack, limit }) => {
        const name = `${measure.replace('many pods', `${o.pods} pods`)}, ${stackTitles[stack]} against upstream`
        return atMost(name, value(measure, stack) / value(measure, baseline), limit)
      }),
  }
}
