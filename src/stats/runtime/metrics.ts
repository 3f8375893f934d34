// Joins the runtime's metrics with their descriptors and with the rows of our inventory, so that the series are the
// same ones as from the cgroup source. Seconds that CRI had to cut are replaced by exact ones where they are known.
import type { Metric } from '../../cri-api/api.js'
import type { PodMetrics } from '../../ports/runtime.js'
import { cpuFamilies as cpu } from '../catalogue/cpu.js'
import type { ExtraLabels, Family } from '../catalogue/family.js'
import { familyOf } from '../catalogue/index.js'
import { pressureFamilies as pressure } from '../catalogue/pressure.js'
import { alwaysFamilies as always } from '../catalogue/times-and-limits.js'
import { containerRow, podRow } from '../render/container-rows.js'
import { formatTimestamp } from '../render/exposition.js'
import type { Row, Rows } from '../render/row.js'
import type { Switches } from '../render/row-writer.js'
import { emitUsage } from '../render/usage-metrics.js'
import type { MetricsSample, PodSample, StatsSample } from '../sample.js'
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
export interface ExactCpu {
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
  readonly rows: Rows
  readonly switches: Switches
  readonly receivedNanos: bigint
  /** The runtime's stats, where they are its too: they have nanoseconds and pod-level values. */
  readonly stats: StatsSample | undefined
  readonly exactCpu: (containerId: string) => ExactCpu | undefined
  readonly cgroupPath: (id: string) => string | undefined
  readonly hasHostNetwork: (pod: PodInfo) => boolean
}

interface Series {
  readonly family: Family
  readonly row: Row
  readonly extra: ExtraLabels | undefined
  readonly value: bigint
  readonly timeNanos: bigint
}

export interface JoinLosses {
  readonly undeclared: number
  readonly labelMismatch: number
  readonly duplicates: number
  readonly withoutValue: number
}

export interface CriMetrics {
  readonly sample: MetricsSample
  readonly losses: JoinLosses
}

interface Exact {
  readonly timeNanos: bigint
  readonly value: bigint
}

function exactValues(usage: Usage | undefined, cpuTimes: ExactCpu | undefined): ReadonlyMap<string, Exact> {
  const values = new Map<string, Exact>()
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

/** The list has the birth of containers and pods in nanoseconds; a runtime's metric of it is cut to seconds. */
const births: ReadonlySet<string> = new Set([
  always.container_creation_time_seconds.name,
  always.container_start_time_seconds.name,
])

/** Rows of pods that runtimes leave out of their metrics, from the pod-level part of their stats. */
function podSeries({ usage }: PodSample, row: Row): Series[] {
  const series: Series[] = []
  emitUsage(usage, (family, value, timeNanos, extra) => {
    series.push({ family, row, extra, value, timeNanos })
  })
  return series
}

/** Of one row. */
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

/** One pod or container that is listed and was answered for. */
interface Part {
  readonly row: Row
  readonly metrics: Iterable<Metric>
  readonly bornNanos: bigint
  readonly exact: ReadonlyMap<string, Exact> | undefined
  readonly takes: (metric: Metric) => boolean
  /** After the runtime's own, so that those win. */
  readonly sample: PodSample | undefined
}

interface Parts {
  /** Rows with the same labels are one. */
  readonly byRow: ReadonlyMap<string, readonly Part[]>
  readonly missing: number
}

const takesAll = (): boolean => true

/** What is read beside the runtime's metrics is read here, and once. */
function findParts(input: CriMetricsInput): Parts {
  const { rows, switches, inventory } = input
  const given = new Map(input.metrics.map((m) => [m.podSandboxId, m]))
  const stats = new Map((input.stats?.pods ?? []).map((p) => [p.info.sandboxId, p]))
  const byRow = new Map<string, Part[]>()
  let missing = 0
  const put = (part: Part): void => {
    const block = part.row.block(undefined)
    const known = byRow.get(block)
    if (known === undefined) byRow.set(block, [part])
    else known.push(part)
  }
  for (const pod of inventory.pods) {
    const answer = given.get(pod.sandboxId)
    if (answer === undefined) {
      missing += pod.containers.length
      continue
    }
    const sample = stats.get(pod.sandboxId)
    const onHost = input.hasHostNetwork(pod)
    put({
      row: podRow(rows, pod, input.cgroupPath(pod.sandboxId) ?? ''),
      metrics: answer.metrics,
      bornNanos: pod.createdAtNanos,
      exact: undefined,
      takes: ({ name }) => (familyOf(name)?.group === 'network' ? !onHost : switches.rows.pods),
      sample: switches.rows.pods ? sample : undefined,
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
        row: containerRow(rows, pod, info, input.cgroupPath(info.id) ?? ''),
        metrics,
        bornNanos: info.createdAtNanos,
        exact: exactValues(usage, input.exactCpu(info.id)),
        takes: takesAll,
        sample: undefined,
      })
    }
  }
  return { byRow, missing }
}

type Take = (series: Series) => void

/** Goes through all metrics, each time from the runtime's bytes: as objects they would outlive their use. */
function walk({ byRow }: Parts, input: CriMetricsInput, take: Take): JoinLosses {
  const { descriptors, switches } = input
  const losses = { undeclared: 0, labelMismatch: 0, duplicates: 0, withoutValue: 0 }
  const extraLabels = createExtraLabels(input)
  const seen = new Set<string>()
  const add = (s: Series): void => {
    if (switches.disabledFamilies.has(s.family.name)) return
    const key = seriesKey(s)
    if (seen.has(key)) losses.duplicates++
    else {
      seen.add(key)
      take(s)
    }
  }
  const addMetric = (metric: Metric, { row, bornNanos, exact }: Part): void => {
    const described = descriptors.get(metric.name)
    if (described === undefined) losses.undeclared++
    else if (metric.labelValues.length !== described.labelCount) losses.labelMismatch++
    else if (metric.value === undefined) losses.withoutValue++
    else {
      const family = typedFamily(described, metric)
      const extra = extraLabels(described, metric.labelValues)
      const better = exact?.get(metric.name)
      const born = births.has(metric.name) && bornNanos > 0n ? bornNanos : undefined
      const value = better?.value ?? born ?? metric.value.value * described.scale
      // Consumers drop a whole pod for a container without processor time.
      if (value === 0n && family.name === cpu.container_cpu_usage_seconds_total.name) return
      add({ family, row, extra, value, timeNanos: better?.timeNanos ?? metric.timestamp })
    }
  }
  for (const parts of byRow.values()) {
    seen.clear()
    for (const part of parts) {
      for (const metric of part.metrics) if (part.takes(metric)) addMetric(metric, part)
      if (part.sample !== undefined)
        for (const s of podSeries(part.sample, part.row)) if (!seen.has(seriesKey(s))) add(s)
    }
  }
  return losses
}

export function joinCriMetrics(input: CriMetricsInput): CriMetrics {
  const parts = findParts(input)
  return {
    losses: walk(parts, input, () => undefined),
    sample: {
      source: 'cri',
      timeNanos: input.receivedNanos,
      missing: parts.missing,
      write(into) {
        // Series of a container have one time, and follow one another.
        let timeNanos = 0n
        let time = formatTimestamp(timeNanos)
        walk(parts, input, (s) => {
          if (s.timeNanos !== timeNanos) {
            timeNanos = s.timeNanos
            time = formatTimestamp(timeNanos)
          }
          into.add(s.family, s.row.block(s.extra), s.value, time)
        })
      },
    },
  }
}
