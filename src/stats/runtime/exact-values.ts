// Exact values that stand in for those that CRI had to cut: nanoseconds of processor time, and of waiting.
import { cpuFamilies as cpu } from '../catalogue/cpu.js'
import type { Family } from '../catalogue/family.js'
import { pressureFamilies as pressure } from '../catalogue/pressure.js'
import type { Psi, Usage } from '../usage.js'

/** Exact processor seconds of one container, read beside the runtime's whole ones. */
export interface ExactCpu {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
  readonly userNanos?: bigint | undefined
  readonly systemNanos?: bigint | undefined
  readonly throttledNanos?: bigint | undefined
}

export interface ExactValue {
  readonly timeNanos: bigint
  readonly value: bigint
}

/** By the name of the family. */
export function exactValues(
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
