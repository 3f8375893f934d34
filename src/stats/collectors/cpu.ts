// Processor time, throttling and the cpu part of the specification. v2: cpu.stat, cpu.max, cpu.weight.
// v1: cpuacct.usage, cpuacct.stat, cpu.stat, cpu.cfs_*, cpu.shares.
import { parseCpuMax } from '../../core/kernel-text/cpu-max.js'
import { parseSigned } from '../../core/kernel-text/digits.js'
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import { cpuFamilies } from '../catalogue/cpu.js'
import { extraLabels } from '../catalogue/family.js'
import { alwaysFamilies } from '../catalogue/times-and-limits.js'
import { readCount } from './amounts.js'
import { byVersion, type CollectContext, type Collector, type ReadValues } from './collector.js'

interface CpuTimes {
  readonly usageNanos: bigint
  readonly userNanos: bigint | undefined
  readonly systemNanos: bigint | undefined
}

interface Throttling {
  readonly periods: bigint
  readonly throttledPeriods: bigint
  readonly throttledNanos: bigint
  readonly burstPeriods: bigint
  readonly burstNanos: bigint
}

export interface CpuValues extends CpuTimes {
  /** Undefined: no quota is set. */
  readonly quotaMicros: bigint | undefined
  readonly periodMicros: bigint | undefined
  readonly shares: bigint | undefined
  readonly throttling: Throttling
}

const statV2 = createFlatKeyedParser([
  'usage_usec',
  'user_usec',
  'system_usec',
  'nr_periods',
  'nr_throttled',
  'throttled_usec',
  'nr_bursts',
  'burst_usec',
])
const statV1 = createFlatKeyedParser([
  'nr_periods',
  'nr_throttled',
  'throttled_time',
  'nr_bursts',
  'burst_time',
])
const acctV1 = createFlatKeyedParser(['user', 'system'])

const nanosFromMicros = (micros: bigint | undefined): bigint => (micros ?? 0n) * 1_000n
/** cpuacct.stat counts in USER_HZ, 100 a second. */
const nanosFromTicks = (ticks: bigint | undefined): bigint => (ticks ?? 0n) * 10_000_000n

/** Converting back is not exact: 1024 shares become weight 39 and then 998. */
const sharesFromWeight = (weight: bigint): bigint => 2n + ((weight - 1n) * 262_142n) / 9_999n

const readV2: ReadValues<CpuValues> = (path, _scope, context) => {
  const text = context.cgroups.read(path, 'cpu.stat')
  if (text === undefined) return undefined
  const stat = statV2(text)
  const maxText = context.cgroups.read(path, 'cpu.max')
  const max = maxText === undefined ? undefined : parseCpuMax(maxText)
  const weight = readCount(context, path, 'cpu.weight')
  return {
    usageNanos: nanosFromMicros(stat.usage_usec),
    userNanos: nanosFromMicros(stat.user_usec),
    systemNanos: nanosFromMicros(stat.system_usec),
    quotaMicros: max === undefined || max.quotaMicros === 'max' ? undefined : max.quotaMicros,
    periodMicros: max?.periodMicros,
    shares: weight === undefined || weight < 1n ? undefined : sharesFromWeight(weight),
    throttling: {
      periods: stat.nr_periods ?? 0n,
      throttledPeriods: stat.nr_throttled ?? 0n,
      throttledNanos: nanosFromMicros(stat.throttled_usec),
      burstPeriods: stat.nr_bursts ?? 0n,
      burstNanos: nanosFromMicros(stat.burst_usec),
    },
  }
}

const readV1: ReadValues<CpuValues> = (path, _scope, context) => {
  const usageNanos = readCount(context, path, 'cpuacct.usage')
  if (usageNanos === undefined) return undefined
  const acctText = context.cgroups.read(path, 'cpuacct.stat')
  const acct = acctText === undefined ? undefined : acctV1(acctText)
  const stat = statV1(context.cgroups.read(path, 'cpu.stat') ?? new Uint8Array())
  const quotaText = context.cgroups.read(path, 'cpu.cfs_quota_us')
  const quota = quotaText === undefined ? undefined : parseSigned(quotaText)
  return {
    usageNanos,
    userNanos: acct === undefined ? undefined : nanosFromTicks(acct.user),
    systemNanos: acct === undefined ? undefined : nanosFromTicks(acct.system),
    quotaMicros: quota === undefined || quota < 0n ? undefined : quota,
    periodMicros: readCount(context, path, 'cpu.cfs_period_us'),
    shares: readCount(context, path, 'cpu.shares'),
    throttling: {
      periods: stat.nr_periods ?? 0n,
      throttledPeriods: stat.nr_throttled ?? 0n,
      throttledNanos: stat.throttled_time ?? 0n,
      burstPeriods: stat.nr_bursts ?? 0n,
      burstNanos: stat.burst_time ?? 0n,
    },
  }
}

/** The processor seconds alone: what a runtime's whole numbers are replaced by. */
export function readCpuSeconds(
  path: CgroupPath,
  { cgroups }: Pick<CollectContext, 'cgroups'>,
): (CpuTimes & { readonly throttledNanos: bigint | undefined }) | undefined {
  if (cgroups.version === 'v1') {
    const usageNanos = readCount({ cgroups }, path, 'cpuacct.usage')
    if (usageNanos === undefined) return undefined
    const text = cgroups.read(path, 'cpuacct.stat')
    const acct = text === undefined ? undefined : acctV1(text)
    return {
      usageNanos,
      userNanos: acct && nanosFromTicks(acct.user),
      systemNanos: acct && nanosFromTicks(acct.system),
      throttledNanos: statV1(cgroups.read(path, 'cpu.stat') ?? new Uint8Array()).throttled_time,
    }
  }
  const text = cgroups.read(path, 'cpu.stat')
  if (text === undefined) return undefined
  const stat = statV2(text)
  return {
    usageNanos: nanosFromMicros(stat.usage_usec),
    userNanos: nanosFromMicros(stat.user_usec),
    systemNanos: nanosFromMicros(stat.system_usec),
    throttledNanos: nanosFromMicros(stat.throttled_usec),
  }
}

const f = { ...cpuFamilies, ...alwaysFamilies }
/** One series for all processors. */
export const cpuTotal = extraLabels({ cpu: 'total' })

export const cpu: Collector<CpuValues> = {
  read: byVersion(readV2, readV1),
  emit(values, emit) {
    // A cgroup that never ran has no series: consumers drop a whole pod for a 0 here.
    if (values.usageNanos > 0n) emit(f.container_cpu_usage_seconds_total, values.usageNanos, cpuTotal)
    if (values.userNanos !== undefined) emit(f.container_cpu_user_seconds_total, values.userNanos)
    if (values.systemNanos !== undefined) emit(f.container_cpu_system_seconds_total, values.systemNanos)
    if (values.periodMicros !== undefined) emit(f.container_spec_cpu_period, values.periodMicros)
    if (values.shares !== undefined) emit(f.container_spec_cpu_shares, values.shares)
    if (values.quotaMicros === undefined) return
    const { throttling } = values
    emit(f.container_spec_cpu_quota, values.quotaMicros)
    emit(f.container_cpu_cfs_periods_total, throttling.periods)
    emit(f.container_cpu_cfs_throttled_periods_total, throttling.throttledPeriods)
    emit(f.container_cpu_cfs_throttled_seconds_total, throttling.throttledNanos)
    emit(f.container_cpu_cfs_burst_periods_total, throttling.burstPeriods)
    emit(f.container_cpu_cfs_burst_seconds_total, throttling.burstNanos)
  },
}
