// All values of one cgroup at one time, and what they mean in the terms of CRI.
import type { NetDev } from '../../core/kernel-text/net-dev.js'
import type { Pressure, PressureLine } from '../../core/kernel-text/pressure.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Emit } from '../catalogue/family.js'
import type { CollectContext, Scope } from '../collectors/collector.js'
import { type CpuValues, cpu } from '../collectors/cpu.js'
import { type DeviceValues, diskIo } from '../collectors/disk-io.js'
import { type HugePageValues, hugetlb } from '../collectors/hugetlb.js'
import { memory } from '../collectors/memory.js'
import { availableBelow, type MemoryValues } from '../collectors/memory-values.js'
import type { NetworkValues } from '../collectors/network.js'
import { type PressureValues, pressure } from '../collectors/pressure.js'
import { type ProcessValues, processes } from '../collectors/processes.js'
import { emitTaskStates, readTaskStates, type TaskStateValues } from '../collectors/task-states.js'
import type {
  CpuUsage,
  InterfaceUsage,
  IoUsage,
  MemoryUsage,
  NetworkUsage,
  Psi,
  PsiLine,
  SwapUsage,
  Usage,
} from '../usage.js'
import { type CpuReading, usageNanoCores } from './cpu-rate.js'

export interface CgroupValues {
  readonly timeNanos: bigint
  readonly cpu: CpuValues | undefined
  readonly memory: MemoryValues | undefined
  readonly pressure: PressureValues | undefined
  readonly io: readonly DeviceValues[] | undefined
  readonly hugePages: readonly HugePageValues[] | undefined
  readonly processes: ProcessValues | undefined
  readonly taskStates: TaskStateValues | undefined
}

/** Undefined: the cgroup is not there (any more). */
export function readCgroup(
  path: CgroupPath,
  scope: Scope,
  context: CollectContext,
  nowNanos: () => bigint,
): CgroupValues | undefined {
  const timeNanos = nowNanos()
  const inside = processes.read(path, scope, context)
  const values = {
    timeNanos,
    cpu: cpu.read(path, scope, context),
    memory: memory.read(path, scope, context),
    pressure: pressure.read(path, scope, context),
    io: diskIo.read(path, scope, context),
    hugePages: hugetlb.read(path, scope, context),
    processes: inside,
    taskStates:
      context.taskStates !== undefined && scope === 'container' && inside !== undefined
        ? readTaskStates(inside.pids, { taskStates: context.taskStates })
        : undefined,
  }
  return values.cpu === undefined && values.memory === undefined ? undefined : values
}

export function emitCgroup(values: CgroupValues, emit: Emit): void {
  if (values.cpu !== undefined) cpu.emit(values.cpu, emit)
  if (values.memory !== undefined) memory.emit(values.memory, emit)
  if (values.pressure !== undefined) pressure.emit(values.pressure, emit)
  if (values.io !== undefined) diskIo.emit(values.io, emit)
  if (values.hugePages !== undefined) hugetlb.emit(values.hugePages, emit)
  if (values.processes !== undefined) processes.emit(values.processes, emit)
  if (values.taskStates !== undefined) emitTaskStates(values.taskStates, emit)
}

const psiLine = (line: PressureLine | undefined): PsiLine =>
  line === undefined
    ? { totalNanos: 0n, avg10: 0, avg60: 0, avg300: 0 }
    : {
        totalNanos: line.totalMicros * 1_000n,
        avg10: line.avg10,
        avg60: line.avg60,
        avg300: line.avg300,
      }

/** The kernel counts microseconds, CRI and the summary nanoseconds. */
export const psiFrom = (p: Pressure | undefined): Psi | undefined =>
  p === undefined ? undefined : { some: psiLine(p.some), full: psiLine(p.full) }

export const cpuReading = ({ timeNanos, cpu }: CgroupValues): CpuReading | undefined =>
  cpu === undefined ? undefined : { timeNanos, usageNanos: cpu.usageNanos }

function cpuUsage(values: CgroupValues, before: CpuReading | undefined): CpuUsage | undefined {
  const now = cpuReading(values)
  if (now === undefined) return undefined
  return {
    timeNanos: now.timeNanos,
    usageCoreNanoSeconds: now.usageNanos,
    usageNanoCores: usageNanoCores(before, now),
    psi: psiFrom(values.pressure?.cpu),
  }
}

function memoryUsage({ timeNanos, memory: m, pressure }: CgroupValues): MemoryUsage | undefined {
  if (m === undefined) return undefined
  return {
    timeNanos,
    availableBytes: availableBelow(m.limit, m.workingSet),
    usageBytes: m.usage,
    workingSetBytes: m.workingSet,
    rssBytes: m.rss,
    pageFaults: m.pageFaults.withChildren,
    majorPageFaults: m.majorPageFaults.withChildren,
    psi: psiFrom(pressure?.memory),
  }
}

const swapUsage = ({ timeNanos, memory }: CgroupValues): SwapUsage | undefined =>
  memory?.swap === undefined
    ? undefined
    : { timeNanos, availableBytes: memory.swap.available, usageBytes: memory.swap.usage }

function ioUsage({ timeNanos, pressure }: CgroupValues): IoUsage | undefined {
  const psi = psiFrom(pressure?.io)
  return psi === undefined ? undefined : { timeNanos, psi }
}

export const usageFrom = (values: CgroupValues, before: CpuReading | undefined): Usage => ({
  cpu: cpuUsage(values, before),
  memory: memoryUsage(values),
  swap: swapUsage(values),
  io: ioUsage(values),
})

const interfaceUsage = ({ name, rxBytes, rxErrors, txBytes, txErrors }: NetDev): InterfaceUsage => ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
})

export const networkUsage = (n: NetworkValues, timeNanos: bigint): NetworkUsage => ({
  timeNanos,
  defaultInterface: n.defaultInterface === undefined ? undefined : interfaceUsage(n.defaultInterface),
  interfaces: n.others.map(interfaceUsage),
})
