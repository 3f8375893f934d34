// The page of the comparison: a row for each measure, a column for each stack, and its ratio to the upstream kubelet.
import { atMost, type BenchReport, type BenchTarget } from '../unit.js'
import { type MeasureName, measureNames, measures } from './measures.js'
import { type StackName, stackNames, stackTitles } from './stack.js'
import { type Target, targetsFor } from './targets.js'
import type { Turn } from './turn.js'

const baseline: StackName = 'upstream'

export interface PageOptions {
  readonly turns: number
  readonly pods: number
  readonly singlePods: number
  readonly windowMs: number
  readonly runtime: string
  readonly collectPeriod?: string | undefined
  /** Of Keelson. */
  readonly node: string
  /** Of the machine before the run: ratios of a busy one say less. */
  readonly load: number
}

const formatValue = (value: number, unit: string): string => {
  if (Number.isNaN(value)) return ''
  if (unit === 'ms' || unit === 'MiB') return `${value.toFixed(0)} ${unit}`
  return `${value.toFixed(2)} ${unit}`
}

/** A share of nothing says nothing. */
const formatRatio = (value: number, base: number): string =>
  base === 0 || value === 0 || Number.isNaN(value / base) ? '' : `${(value / base).toFixed(2)}x`

export function formatPage(turns: readonly Turn[], o: PageOptions): BenchReport {
  const stacks = stackNames.filter((stack) => turns.some((t) => t.stack === stack))
  const value = (measure: MeasureName, stack: StackName): number =>
    measures[measure].of(turns.filter((t) => t.stack === stack))
  const others = stacks.filter((stack) => stack !== baseline)
  const named = (text: string): string => text.replace('many pods', `${o.pods} pods`)
  const row = (measure: MeasureName): string[] => {
    const base = value(measure, baseline)
    const { unit } = measures[measure]
    const cells = others.flatMap((stack) => {
      const own = value(measure, stack)
      return [formatValue(own, unit), formatRatio(own, base)]
    })
    return [named(measure), formatValue(base, unit), ...cells]
  }
  const judge = (target: Target): BenchTarget[] => {
    const own = value(target.measure, target.stack)
    const name = `${named(target.measure)}, ${stackTitles[target.stack]}`
    if ('atMost' in target) {
      const { unit } = measures[target.measure]
      const limit = `<= ${target.atMost} ${unit}`
      const judged = { name, measured: formatValue(own, unit), limit, met: own <= target.atMost }
      return Number.isNaN(own) ? [] : [judged]
    }
    const ratio = own / value(target.measure, target.against)
    const from = target.from === undefined ? '' : ` (${target.from})`
    const full = `${name} against ${stackTitles[target.against]}${from}`
    return Number.isNaN(ratio) ? [] : [atMost(full, ratio, Number(target.limit.toFixed(2)))]
  }
  const measured = measureNames.filter((m) => stacks.some((stack) => !Number.isNaN(value(m, stack))))
  return {
    file: [
      'kubelet',
      o.runtime === 'containerd-1.6' ? '' : `-${o.runtime}`,
      o.collectPeriod === undefined ? '' : `-collect-${o.collectPeriod}`,
      o.pods === 110 ? '' : `-${o.pods}`,
      turns.some((t) => t.loop !== undefined) ? '-loop' : '',
    ].join(''),
    title: 'Keelson beside the upstream kubelet',
    method: [
      `Both kubelets in turns on the same ${o.runtime}${o.collectPeriod === undefined ? '' : ` with stats_collect_period ${o.collectPeriod}`}, in one node environment of private namespaces on this host: static pods, no API server, cgroupfs. Keelson runs on Node ${o.node}. Medians over ${o.turns} ${o.turns === 1 ? 'turn' : 'turns'}; a turn begins with an empty runtime; each kubelet was started once before, so that its certificate and its compiled code are there; that start, which makes both, is the first start. Load average of the machine before the run: ${o.load.toFixed(1)}.`,
      `A pod runs when its container has executed its first command, which is seen by a file that it writes: neither kubelet nor runtime is asked. One pod: from the manifest's appearance, ${o.singlePods} pods one after the other in each turn, percentiles over all turns.`,
      `At rest: ${o.pods} pods, ${(o.windowMs / 1000).toFixed(0)} s without a request; then the same with /metrics/cadvisor, /metrics/resource and /stats/summary every 10 s. CPU per minute, of the processes themselves; shims are with the runc that they run. Memory is resident. The server is \`keelson cri --values kernel\`, as a process of its own or inside the kubelet. The upstream kubelet has cAdvisor; Keelson has the gate PodAndContainerStatsFromCRI off where the column does not say otherwise.`,
      'The delay of the event loop is the time that work waits for it, also while other processes have the processors; it is blocked for the part of that in which its thread did not wait for a processor (row `loop`, in a run of its own, because watching costs). The CPU of a turn is what its thread itself did; the rest of a block it waited in the kernel or for another thread. Both while the pods start and with scrapes.',
      `Stop: from the removal of all manifests until the last sandbox has ended.`,
    ].join(' '),
    columns: ['what', stackTitles[baseline], ...others.flatMap((stack) => [stackTitles[stack], 'ratio'])],
    rows: measured.map(row),
    targets: targetsFor(o.pods).flatMap(judge),
  }
}
