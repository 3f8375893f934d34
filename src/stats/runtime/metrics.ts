// Joins the runtime's metrics with their descriptors and with the labels of our inventory, so that the series are the
// same ones as from the cgroup source. Seconds that CRI had to cut are replaced by exact ones where they are known.
import { inTurns } from '../../core/units/turns.js'
import type { Metric } from '../../cri-api/api.js'
import { cpuFamilies as cpu } from '../catalogue/cpu.js'
import type { ExtraLabels } from '../catalogue/family.js'
import { alwaysFamilies as always } from '../catalogue/times-and-limits.js'
import { cpuTotal } from '../collectors/cpu.js'
import { emitNetwork } from '../collectors/network.js'
import type { LabelSet } from '../render/label-set.js'
import { type Series, seriesKey } from '../render/series.js'
import { emitUsage } from '../render/usage-metrics.js'
import { type MetricsSample, type PodSample, podsWrittenATurn } from '../sample.js'
import { type Described, extraLabelsOf, type LabelFixes, typedFamily } from './descriptors.js'
import { type CriMetricsInput, findSubjects, type Subject, type Subjects } from './metrics-subjects.js'
import { createLines } from './series-lines.js'

/** Metrics of the runtime that cannot be shown, by reason. */
export interface DroppedMetrics {
  readonly undeclared: number
  readonly labelMismatch: number
  readonly duplicates: number
  readonly withoutValue: number
}

interface JoinedMetrics {
  readonly sample: MetricsSample
  readonly dropped: DroppedMetrics
}

/** The list has the creation of containers and pods in nanoseconds; a runtime's metric of it is cut to seconds. */
const creationTimes: ReadonlySet<string> = new Set([
  always.container_creation_time_seconds.name,
  always.container_start_time_seconds.name,
])

/** Series of pods that runtimes leave out of their metrics, from the pod-level part of their stats. */
function podSeries({ usage }: PodSample, labels: LabelSet): Series[] {
  const series: Series[] = []
  emitUsage(usage, (family, value, timeNanos, extra) => {
    series.push({ family, labels, extra, value, timeNanos })
  })
  return series
}

/** Devices, interfaces and the like are few: their labels are made once for all containers. */
function createExtraLabels(
  fixes: LabelFixes,
): (described: Described, labelValues: readonly string[]) => ExtraLabels | undefined {
  const known = new Map<Described, Map<string, ExtraLabels | undefined>>()
  return (described, labelValues) => {
    if (described.extra.length === 0) return extraLabelsOf(described, labelValues, fixes)
    const own = known.get(described) ?? new Map<string, ExtraLabels | undefined>()
    known.set(described, own)
    let key = ''
    for (const [position] of described.extra) key += `${labelValues[position] ?? ''}\0`
    if (!own.has(key)) own.set(key, extraLabelsOf(described, labelValues, fixes))
    return own.get(key)
  }
}

/** Decodes every metric of the answer, and hands each series that can be shown to `visit`. */
async function visitSeries(
  { byLabels }: Subjects,
  input: CriMetricsInput,
  visit: (series: Series) => void,
): Promise<DroppedMetrics> {
  const { descriptors, switches, repair } = input
  const dropped = { undeclared: 0, labelMismatch: 0, duplicates: 0, withoutValue: 0 }
  const extraLabels = createExtraLabels(input)
  const seen = new Set<string>()
  const add = (s: Series): void => {
    if (switches.disabledFamilies.has(s.family.name)) return
    const key = seriesKey(s)
    if (seen.has(key)) dropped.duplicates++
    else {
      seen.add(key)
      visit(s)
    }
  }
  const addMetric = (metric: Metric, { labels, createdAtNanos, exact, kernel }: Subject): void => {
    const described = descriptors.get(metric.name)
    if (described === undefined) dropped.undeclared++
    else if (metric.labelValues.length !== described.labelCount) dropped.labelMismatch++
    else if (metric.value === undefined) dropped.withoutValue++
    else {
      const family = typedFamily(described, metric)
      const extra = extraLabels(described, metric.labelValues)
      const isOneCpu =
        family.name === cpu.container_cpu_usage_seconds_total.name && extra?.key !== cpuTotal.key
      const known = exact?.get(metric.name)
      if (isOneCpu && known !== undefined && repair.hasDefect('cpu-rows')) {
        repair.note(family.name, 'cpu-rows')
        const total = { family, labels, extra: cpuTotal, ...known }
        if (!seen.has(seriesKey(total)) && known.value > 0n) add(total)
        return
      }
      if (
        family.name.startsWith('container_cpu_cfs_') &&
        repair.hasDefect('throttling-without-quota') &&
        kernel().lacks(family)
      ) {
        repair.note(family.name, 'throttling-without-quota')
        return
      }
      // The exact value is that of all CPUs together.
      const better = isOneCpu ? undefined : known
      const created = creationTimes.has(metric.name) && createdAtNanos > 0n ? createdAtNanos : undefined
      const given = better?.value ?? created ?? metric.value.value * described.scale
      const value = repair.value(family.name, given, () => kernel().values(family, extra))
      if (value === undefined) return
      // Consumers drop a whole pod for a container without processor time.
      if (value === 0n && family.name === cpu.container_cpu_usage_seconds_total.name) return
      add({ family, labels, extra, value, timeNanos: better?.timeNanos ?? metric.timestamp })
    }
  }
  await inTurns(byLabels.values(), podsWrittenATurn, (subjects) => {
    seen.clear()
    for (const subject of subjects) {
      for (const metric of subject.metrics) if (subject.includes(metric)) addMetric(metric, subject)
      if (subject.sample !== undefined)
        for (const s of podSeries(subject.sample, subject.labels)) if (!seen.has(seriesKey(s))) add(s)
      const { network, labels } = subject
      if (network !== undefined)
        emitNetwork(network, (family, value, extra) =>
          add({ family, labels, extra, value, timeNanos: input.receivedNanos }),
        )
    }
  })
  return dropped
}

/**
 * Every metric is decoded once, and its line kept: an unreadable or undeclared metric must show in the sample, where cgroups can still
 * replace it, and not in a scrape.
 */
export async function joinCriMetrics(input: CriMetricsInput): Promise<JoinedMetrics> {
  const subjects = findSubjects(input)
  const lines = createLines()
  const dropped = await visitSeries(subjects, input, (s) => lines.add(s))
  return {
    dropped,
    sample: {
      source: 'cri',
      timeNanos: input.receivedNanos,
      missing: subjects.missing,
      write: (into) => lines.write(into),
    },
  }
}
