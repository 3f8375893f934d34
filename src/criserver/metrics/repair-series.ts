// What the rules about wrong values need to know of series: the kernel's values of one cgroup, and what a row is about.
import { cpuFamilies } from '../../stats/catalogue/cpu.js'
import type { Family } from '../../stats/catalogue/family.js'
import { memoryFamilies } from '../../stats/catalogue/memory.js'
import { networkFamilies } from '../../stats/catalogue/network.js'
import { alwaysFamilies } from '../../stats/catalogue/times-and-limits.js'
import { cpuTotal } from '../../stats/collectors/cpu.js'
import type { Series } from '../../stats/render/series.js'
import type { Repair } from '../../stats/repair/repairs.js'
import type { KernelValues } from '../../stats/repair/value-rules.js'

interface KernelSeries {
  has(family: Family): boolean
  /** `same`: the kernel's form of the series in question. */
  values(same: Series | undefined): KernelValues
}

/** Our series of one pod or container. */
export function kernelOf(own: readonly Series[]): KernelSeries {
  const byFamily = new Map(own.map((s) => [s.family, s.value]))
  return {
    has: (family) => byFamily.has(family),
    values: (same) => ({
      same: same?.value,
      usageBytes: byFamily.get(memoryFamilies.container_memory_usage_bytes),
      swapBytes: byFamily.get(memoryFamilies.container_memory_swap),
      limitBytes: byFamily.get(alwaysFamilies.container_spec_memory_limit_bytes),
    }),
  }
}

/** Of one CPU, where cAdvisor in a kubelet has one row for all. */
export const isCpuRow = ({ family, extra }: Series): boolean =>
  family === cpuFamilies.container_cpu_usage_seconds_total && extra?.key !== cpuTotal.key

/** The kernel has a cgroup here, and no CPU quota for it. */
export const isWithoutQuota = ({ family }: Series, kernel: KernelSeries): boolean =>
  family.name.startsWith('container_cpu_cfs_') &&
  kernel.has(memoryFamilies.container_memory_usage_bytes) &&
  !kernel.has(family)

/** Of the file system, with the path of its root where the name of the device belongs. */
export const isRootDevice = ({ family, extra }: Series): boolean =>
  family.name.startsWith('container_fs_') && new Map(extra?.pairs).get('device') === '/'

/** Every cgroup has the same rows, so one that the runtime leaves out is missing and not absent. */
export const hasFixedRows = ({ family }: Series): boolean =>
  family === memoryFamilies.container_memory_failures_total

const traffic = (series: readonly Series[]): ReadonlyMap<string, bigint> =>
  new Map(
    series
      .filter((s) => s.family === networkFamilies.container_network_receive_bytes_total)
      .map((s) => [new Map(s.extra?.pairs).get('interface') ?? '', s.value]),
  )

/** The runtime counted another network namespace than the pod's. A pod on the node's network has no series of ours. */
export function hasOtherNetwork(given: readonly Series[], own: readonly Series[], repair: Repair): boolean {
  if (!given.some((s) => s.family.group === 'network')) return false
  // Small differences cannot be told from traffic, so a runtime that is known for it is not asked.
  if (repair.hasDefect('node-network-counted')) return true
  const ours = traffic(own)
  return ours.size > 0 && repair.isOtherNamespace(traffic(given), ours)
}
