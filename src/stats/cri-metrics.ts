// Joins the runtime's metrics with their descriptors and with the rows of our inventory, so that the series are the
// same ones as from the cgroup source. Seconds that CRI had to cut are replaced by exact ones where they are known.
import type { Metric, PodSandboxMetrics } from '../cri-api/api.js'
import { cpuFamilies as cpu } from './catalogue/cpu.js'
import type { ExtraLabels, Family } from './catalogue/family.js'
import { familyOf } from './catalogue/index.js'
import { pressureFamilies as pressure } from './catalogue/pressure.js'
import { alwaysFamilies as always } from './catalogue/times-and-limits.js'
import { containerRow, podRow } from './cgroup-metrics.js'
import { type Descriptors, extraLabelsOf, type LabelFixes, typedFamily } from './cri-descriptors.js'
import { formatTimestamp } from './exposition.js'
import type { Inventory, PodInfo } from './inventory.js'
import type { Row, Rows } from './row.js'
import type { Switches } from './row-writer.js'
import type { MetricsSample, PodSample, StatsSample } from './sample.js'
import type { Psi, Usage } from './usage.js'
import { emitUsage } from './usage-metrics.js'

/** Exact processor seconds of one container, read beside the runtime's whole ones. */
export interface ExactCpu {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
  readonly userNanos?: bigint | undefined
  readonly systemNanos?: bigint | undefined
  readonly throttledNanos?: bigint | undefined
}

export interface CriMetricsInput extends LabelFixes {
  readonly metrics: readonly PodSandboxMetrics[]
  readonly descriptors: Descriptors
  readonly inventory: Inventory
  readonly rows: Rows
  readonly switches: Switches
  readonly receivedNanos: bigint
  /** The runtime's stats, where they are its too: they have nanoseconds and pod-level figures. */
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

export function joinCriMetrics(input: CriMetricsInput): CriMetrics {
  const { descriptors, rows, switches, inventory } = input
  const losses = { undeclared: 0, labelMismatch: 0, duplicates: 0, withoutValue: 0 }
  const series: Series[] = []
  const seen = new Set<string>()
  const given = new Map(input.metrics.map((m) => [m.podSandboxId, m]))
  const stats = new Map((input.stats?.pods ?? []).map((p) => [p.info.sandboxId, p]))
  let missing = 0

  const add = (s: Series): void => {
    if (switches.disabledFamilies.has(s.family.name)) return
    const key = `${s.family.name}${s.row.block(s.extra)}`
    if (seen.has(key)) losses.duplicates++
    else {
      seen.add(key)
      series.push(s)
    }
  }
  const addMetric = (
    metric: Metric,
    row: Row,
    bornNanos: bigint,
    exact: ReadonlyMap<string, Exact> | undefined,
  ): void => {
    const described = descriptors.get(metric.name)
    if (described === undefined) losses.undeclared++
    else if (metric.labelValues.length !== described.labelCount) losses.labelMismatch++
    else if (metric.value === undefined) losses.withoutValue++
    else {
      const family = typedFamily(described, metric)
      const extra = extraLabelsOf(described, metric.labelValues, input)
      const better = exact?.get(metric.name)
      const born = births.has(metric.name) && bornNanos > 0n ? bornNanos : undefined
      const value = better?.value ?? born ?? metric.value.value * described.scale
      // Consumers drop a whole pod for a container without processor time.
      if (value === 0n && family.name === cpu.container_cpu_usage_seconds_total.name) return
      add({ family, row, extra, value, timeNanos: better?.timeNanos ?? metric.timestamp })
    }
  }

  for (const pod of inventory.pods) {
    const answer = given.get(pod.sandboxId)
    if (answer === undefined) {
      missing += pod.containers.length
      continue
    }
    const sample = stats.get(pod.sandboxId)
    const row = podRow(rows, pod, input.cgroupPath(pod.sandboxId) ?? '')
    const onHost = input.hasHostNetwork(pod)
    for (const metric of answer.metrics) {
      const isNetwork = familyOf(metric.name)?.group === 'network'
      if (isNetwork ? !onHost : switches.rows.pods) addMetric(metric, row, pod.createdAtNanos, undefined)
    }
    // After the runtime's own, so that those win.
    if (sample !== undefined && switches.rows.pods)
      for (const s of podSeries(sample, row)) if (!seen.has(`${s.family.name}${row.block(s.extra)}`)) add(s)
    const containers = new Map(answer.containerMetrics.map((c) => [c.containerId, c]))
    for (const info of pod.containers) {
      const metrics = containers.get(info.id)?.metrics
      if (metrics === undefined) {
        missing++
        continue
      }
      const usage = sample?.containers.find((c) => c.info.id === info.id)?.usage
      const exact = exactValues(usage, input.exactCpu(info.id))
      const containerRowOf = containerRow(rows, pod, info, input.cgroupPath(info.id) ?? '')
      for (const metric of metrics) addMetric(metric, containerRowOf, info.createdAtNanos, exact)
    }
  }
  return {
    losses,
    sample: {
      source: 'cri',
      timeNanos: input.receivedNanos,
      missing,
      write(into) {
        for (const s of series)
          into.add(s.family, s.row.block(s.extra), s.value, formatTimestamp(s.timeNanos))
      },
    },
  }
}
