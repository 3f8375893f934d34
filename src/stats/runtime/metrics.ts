// Joins the runtime's metrics with their descriptors and with the labels of our inventory, so that the series are the
// same ones as from the cgroup source. Seconds that CRI had to cut are replaced by exact ones where they are known.
import { inTurns } from '../../core/units/turns.js'
import type { Metric } from '../../cri-api/api.js'
import type { PodMetrics } from '../../ports/runtime.js'
import { cpuFamilies as cpu } from '../catalogue/cpu.js'
import type { ExtraLabels, Family } from '../catalogue/family.js'
import { familyOf } from '../catalogue/index.js'
import { pressureFamilies as pressure } from '../catalogue/pressure.js'
import { alwaysFamilies as always } from '../catalogue/times-and-limits.js'
import type { CgroupValues } from '../cgroup/container-stats.js'
import { cpuTotal } from '../collectors/cpu.js'
import { emitNetwork, type NetworkValues } from '../collectors/network.js'
import { type Exposition, formatTimestamp } from '../render/exposition.js'
import { containerLabels, type LabelSet, type LabelSets, podLabels } from '../render/label-set.js'
import type { Switches } from '../render/series-writer.js'
import { emitUsage } from '../render/usage-metrics.js'
import { type KernelSeries, kernelSeries } from '../repair/kernel-series.js'
import type { Repair } from '../repair/repairs.js'
import { type MetricsSample, type PodSample, podsWrittenATurn, type StatsSample } from '../sample.js'
import type { Psi, Usage } from '../usage.js'
import {
  type Described,
  type Descriptors,
  extraLabelsOf,
  type LabelFixes,
  typedFamily,
} from './descriptors.js'
import type { Inventory, PodInfo } from './inventory.js'

/** Exact processor seconds of one container, read beside the runtime's whole ones. */
interface ExactCpu {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
  readonly userNanos?: bigint | undefined
  readonly systemNanos?: bigint | undefined
  readonly throttledNanos?: bigint | undefined
}

export interface CriMetricsInput extends LabelFixes {
  readonly metrics: readonly PodMetrics[]
  readonly descriptors: Descriptors
  readonly inventory: Inventory
  readonly labelSets: LabelSets
  readonly switches: Switches
  readonly receivedNanos: bigint
  /** The runtime's stats, where they are in use too: they have nanoseconds and pod-level values. */
  readonly stats: StatsSample | undefined
  readonly exactCpu: (containerId: string) => ExactCpu | undefined
  readonly cgroupPath: (id: string) => string | undefined
  readonly hasHostNetwork: (pod: PodInfo) => boolean
  /** The rules about wrong values, with what the kernel has. */
  readonly repair: Repair
  readonly kernel: (id: string) => CgroupValues | undefined
  readonly networkOf: (pod: PodInfo) => NetworkValues | undefined
}

interface Series {
  readonly family: Family
  readonly labels: LabelSet
  readonly extra: ExtraLabels | undefined
  readonly value: bigint
  readonly timeNanos: bigint
}

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

interface ExactValue {
  readonly timeNanos: bigint
  readonly value: bigint
}

function exactValues(
  usage: Usage | undefined,
  cpuTimes: ExactCpu | undefined,
): ReadonlyMap<string, ExactValue> {
  const values = new Map<string, ExactValue>()
  const put = (family: Family, value: bigint | undefined, timeNanos: bigint | undefined): void => {
    if (value !== undefined && timeNanos !== undefined) values.set(family.name, { value, timeNanos })
  }
  const psi = (p: Psi | undefined, time: bigint | undefined, waiting: Family, stalled: Family): void => {
    put(waiting, p?.some.totalNanos, time)
    put(stalled, p?.full.totalNanos, time)
  }
  put(cpu.container_cpu_usage_seconds_total, usage?.cpu?.usageCoreNanoSeconds, usage?.cpu?.timeNanos)
  put(cpu.container_cpu_usage_seconds_total, cpuTimes?.usageNanos, cpuTimes?.timeNanos)
  put(cpu.container_cpu_user_seconds_total, cpuTimes?.userNanos, cpuTimes?.timeNanos)
  put(cpu.container_cpu_system_seconds_total, cpuTimes?.systemNanos, cpuTimes?.timeNanos)
  put(cpu.container_cpu_cfs_throttled_seconds_total, cpuTimes?.throttledNanos, cpuTimes?.timeNanos)
  const { cpu: c, memory: m, io } = usage ?? {}
  psi(
    c?.psi,
    c?.timeNanos,
    pressure.container_pressure_cpu_waiting_seconds_total,
    pressure.container_pressure_cpu_stalled_seconds_total,
  )
  psi(
    m?.psi,
    m?.timeNanos,
    pressure.container_pressure_memory_waiting_seconds_total,
    pressure.container_pressure_memory_stalled_seconds_total,
  )
  psi(
    io?.psi,
    io?.timeNanos,
    pressure.container_pressure_io_waiting_seconds_total,
    pressure.container_pressure_io_stalled_seconds_total,
  )
  return values
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

/** Unique within one label set. */
const seriesKey = ({ family, extra }: Pick<Series, 'family' | 'extra'>): string =>
  extra === undefined ? family.name : `${family.name} ${extra.key}`

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

/** A listed pod or container that the runtime's answer has metrics of. */
interface Subject {
  readonly labels: LabelSet
  readonly metrics: Iterable<Metric>
  readonly createdAtNanos: bigint
  readonly exact: ReadonlyMap<string, ExactValue> | undefined
  readonly includes: (metric: Metric) => boolean
  /** Fills what the metrics leave out. */
  readonly sample: PodSample | undefined
  /** Read once, and only when a value looks wrong. */
  readonly kernel: () => KernelSeries
  /** Stands in for network metrics that are not the pod's. */
  readonly network: NetworkValues | undefined
}

interface Subjects {
  /** Those with the same labels together: their series must not repeat each other. */
  readonly byLabels: ReadonlyMap<string, readonly Subject[]>
  /** Listed containers that the answer has nothing of. */
  readonly missing: number
}

const includesAll = (): boolean => true

const isOfNetwork = ({ name }: Metric): boolean => familyOf(name)?.group === 'network'

function hasNetwork(metrics: Iterable<Metric>): boolean {
  for (const metric of metrics) if (isOfNetwork(metric)) return true
  return false
}

/** Undefined: the runtime's network metrics stay. `own` undefined: they are wrong, and there are none to replace them. */
function otherNetwork(
  pod: PodInfo,
  metrics: Iterable<Metric>,
  { repair, networkOf }: CriMetricsInput,
): { readonly own: NetworkValues | undefined } | undefined {
  // The namespace is read only behind a runtime that is known to count another one.
  if (!repair.hasDefect('node-network-counted') || !hasNetwork(metrics)) return undefined
  repair.note('container_network', 'node-network-counted')
  return { own: networkOf(pod) }
}

/** What is read beside the runtime's metrics, as exact CPU time, is read here, and once. */
function findSubjects(input: CriMetricsInput): Subjects {
  const { labelSets, switches, inventory } = input
  const answered = new Map(input.metrics.map((m) => [m.podSandboxId, m]))
  const stats = new Map((input.stats?.pods ?? []).map((p) => [p.info.sandboxId, p]))
  const byLabels = new Map<string, Subject[]>()
  let missing = 0
  const put = (subject: Subject): void => {
    const block = subject.labels.block(undefined)
    const known = byLabels.get(block)
    if (known === undefined) byLabels.set(block, [subject])
    else known.push(subject)
  }
  for (const pod of inventory.pods) {
    const answer = answered.get(pod.sandboxId)
    if (answer === undefined) {
      missing += pod.containers.length
      continue
    }
    const sample = stats.get(pod.sandboxId)
    const onHost = input.hasHostNetwork(pod)
    const other = onHost ? undefined : otherNetwork(pod, answer.metrics, input)
    const keepsNetwork = !onHost && other === undefined
    put({
      labels: podLabels(labelSets, pod, input.cgroupPath(pod.sandboxId) ?? ''),
      metrics: answer.metrics,
      createdAtNanos: pod.createdAtNanos,
      exact: undefined,
      includes: (metric) => (isOfNetwork(metric) ? keepsNetwork : switches.rows.pods),
      sample: switches.rows.pods ? sample : undefined,
      kernel: kernelSeries(() => input.kernel(pod.sandboxId)),
      network: other?.own,
    })
    const containers = new Map(answer.containerMetrics.map((c) => [c.containerId, c.metrics]))
    for (const info of pod.containers) {
      const metrics = containers.get(info.id)
      if (metrics === undefined) {
        missing++
        continue
      }
      const usage = sample?.containers.find((c) => c.info.id === info.id)?.usage
      put({
        labels: containerLabels(labelSets, pod, info, input.cgroupPath(info.id) ?? ''),
        metrics,
        createdAtNanos: info.createdAtNanos,
        exact: exactValues(usage, input.exactCpu(info.id)),
        includes: includesAll,
        sample: undefined,
        kernel: kernelSeries(() => input.kernel(info.id)),
        network: undefined,
      })
    }
  }
  return { byLabels, missing }
}

/** About those of `podsWrittenATurn`. */
const linesWrittenATurn = 2_000

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

/** What is written of each series, in columns: as 13,000 objects a full node's would be as many to mark and move for the collector. */
function createLines() {
  const families: Family[] = []
  const blocks: string[] = []
  const values: bigint[] = []
  const times: string[] = []
  // Series of a container have one time, and follow one another.
  let timeNanos = 0n
  let time = formatTimestamp(timeNanos)
  return {
    add(s: Series): void {
      if (s.timeNanos !== timeNanos) {
        timeNanos = s.timeNanos
        time = formatTimestamp(timeNanos)
      }
      families.push(s.family)
      blocks.push(s.labels.block(s.extra))
      values.push(s.value)
      times.push(time)
    },
    async write(into: Exposition): Promise<void> {
      await inTurns(families.entries(), linesWrittenATurn, ([i, family]) =>
        into.add(family, blocks[i] ?? '', values[i] ?? 0n, times[i] ?? ''),
      )
    },
  }
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
