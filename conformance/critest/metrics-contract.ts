// What critest asks of a runtime's metrics (KEP-2371), as a judgement over the two answers: its specs for them are newer
// than the last version that the module proxy has.
import { requiredMetrics } from '../../src/stats/catalogue/required.js'

export interface Descriptor {
  readonly name: string
  readonly help: string
  readonly labelKeys: readonly string[]
}

export interface Metric {
  readonly name: string
  readonly labelValues: readonly string[]
}

/** critest lets their values be absent: a container that did no I/O on a block device has none. */
const mayLackValues: ReadonlySet<string> = new Set([
  'container_blkio_device_usage_total',
  'container_fs_reads_bytes_total',
  'container_fs_reads_total',
  'container_fs_writes_bytes_total',
  'container_fs_writes_total',
])

/** critest excuses them as not yet implemented by runtimes; where the kernel has them we do not need the excuse. */
export const excused: ReadonlySet<string> = new Set([
  'container_hugetlb_max_usage_bytes',
  'container_hugetlb_usage_bytes',
  'container_pressure_cpu_stalled_seconds_total',
  'container_pressure_cpu_waiting_seconds_total',
  'container_pressure_io_stalled_seconds_total',
  'container_pressure_io_waiting_seconds_total',
  'container_pressure_memory_stalled_seconds_total',
  'container_pressure_memory_waiting_seconds_total',
  'container_spec_cpu_quota',
  'container_spec_memory_reservation_limit_bytes',
  'container_ulimits_soft',
])

export interface Judgement {
  readonly problems: readonly string[]
  /** Excused names that have no descriptor here. */
  readonly absent: readonly string[]
}

/**
 * `metrics`: all of the test pod, its own and its containers'. `runtimes`: names that the runtime itself declares; a server in
 * front of it keeps them, and of the excused ones it may have no value.
 */
export function judgeMetrics(
  descriptors: readonly Descriptor[],
  metrics: readonly Metric[],
  runtimes: ReadonlySet<string> = new Set(),
): Judgement {
  const declared = new Map(descriptors.map((d) => [d.name, d]))
  const filled = new Map<string, Metric>()
  for (const metric of metrics)
    if (metric.labelValues.length > 0 && !filled.has(metric.name)) filled.set(metric.name, metric)
  const missing = requiredMetrics.filter((name) => !declared.has(name))
  const problems = [
    ...missing.filter((name) => !excused.has(name)).map((name) => `${name} has no descriptor`),
    ...descriptors.filter((d) => d.help === '').map((d) => `${d.name} has no help`),
    ...descriptors.filter((d) => d.labelKeys.length === 0).map((d) => `${d.name} has no label keys`),
    ...descriptors
      .filter((d) => !filled.has(d.name) && !mayLackValues.has(d.name))
      .filter((d) => !(runtimes.has(d.name) && excused.has(d.name)))
      .map((d) => `${d.name} is declared and has no value`),
    ...[...filled.values()].flatMap(({ name, labelValues }) => {
      const keys = declared.get(name)?.labelKeys
      if (keys === undefined) return [`${name} has a value and no descriptor`]
      return keys.length === labelValues.length
        ? []
        : [`${name} has ${labelValues.length} label values for ${keys.length} keys`]
    }),
  ]
  return { problems, absent: missing.filter((name) => excused.has(name)) }
}
