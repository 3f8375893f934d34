// All figures of one cgroup at one time, and what they mean in the terms of CRI.
import type { NetDev } from '../../core/kernel-text/net-dev.js'
import type { Pressure, PressureLine } from '../../core/kernel-text/pressure.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Emit } from '../catalogue/family.js'
import type { CollectContext, Scope } from '../collectors/collector.js'
import { type CpuFigures, cpu } from '../collectors/cpu.js'
import { type DeviceFigures, diskIo } from '../collectors/disk-io.js'
import { type HugePageFigures, hugetlb } from '../collectors/hugetlb.js'
import { memory } from '../collectors/memory.js'
import { availableBelow, type MemoryFigures } from '../collectors/memory-values.js'
import type { NetworkFigures } from '../collectors/network.js'
import { type PressureFigures, pressure } from '../collectors/pressure.js'
import { type ProcessFigures, processes } from '../collectors/processes.js'
import { emitTaskStates, readTaskStates, type TaskStateFigures } from '../collectors/task-states.js'
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

export interface CgroupFigures {
  readonly timeNanos: bigint
  readonly cpu: CpuFigures | undefined
  readonly memory: MemoryFigures | undefined
  readonly pressure: PressureFigures | undefined
  readonly io: readonly DeviceFigures[] | undefined
  readonly hugePages: readonly HugePageFigures[] | undefined
  readonly processes: ProcessFigures | undefined
  readonly taskStates: TaskStateFigures | undefined
}

/** Undefined: the cgroup is not there (any more). */
export function readCgroup(
  path: CgroupPath,
  scope: Scope,
  context: CollectContext,
  nowNanos: () => bigint,
): CgroupFigures | undefined {
  const timeNanos = nowNanos()
  const inside = processes.read(path, scope, context)
  const figures = {
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
  return figures.cpu === undefined && figures.memory === undefined ? undefined : figures
}

export function emitCgroup(figures: CgroupFigures, emit: Emit): void {
  if (figures.cpu !== undefined) cpu.emit(figures.cpu, emit)
  if (figures.memory !== undefined) memory.emit(figures.memory, emit)
  if (figures.pressure !== undefined) pressure.emit(figures.pressure, emit)
  if (figures.io !== undefined) diskIo.emit(figures.io, emit)
  if (figures.hugePages !== undefined) hugetlb.emit(figures.hugePages, emit)
  if (figures.processes !== undefined) processes.emit(figures.processes, emit)
  if (figures.taskStates !== undefined) emitTaskStates(figures.taskStates, emit)
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

export const cpuReading = ({ timeNanos, cpu }: CgroupFigures): CpuReading | undefined =>
  cpu === undefined ? undefined : { timeNanos, usageNanos: cpu.usageNanos }

function cpuUsage(figures: CgroupFigures, before: CpuReading | undefined): CpuUsage | undefined {
  const now = cpuReading(figures)
  if (now === undefined) return undefined
  return {
    timeNanos: now.timeNanos,
    usageCoreNanoSeconds: now.usageNanos,
    usageNanoCores: usageNanoCores(before, now),
    psi: psiFrom(figures.pressure?.cpu),
  }
}

function memoryUsage({ timeNanos, memory: m, pressure }: CgroupFigures): MemoryUsage | undefined {
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

const swapUsage = ({ timeNanos, memory }: CgroupFigures): SwapUsage | undefined =>
  memory?.swap === undefined
    ? undefined
    : { timeNanos, availableBytes: memory.swap.available, usageBytes: memory.swap.usage }

function ioUsage({ timeNanos, pressure }: CgroupFigures): IoUsage | undefined {
  const psi = psiFrom(pressure?.io)
  return psi === undefined ? undefined : { timeNanos, psi }
}

export const usageFrom = (figures: CgroupFigures, before: CpuReading | undefined): Usage => ({
  cpu: cpuUsage(figures, before),
  memory: memoryUsage(figures),
  swap: swapUsage(figures),
  io: ioUsage(figures),
})

const interfaceUsage = ({ name, rxBytes, rxErrors, txBytes, txErrors }: NetDev): InterfaceUsage => ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
})

export const networkUsage = (n: NetworkFigures, timeNanos: bigint): NetworkUsage => ({
  timeNanos,
  defaultInterface: n.defaultInterface === undefined ? undefined : interfaceUsage(n.defaultInterface),
  interfaces: n.others.map(interfaceUsage),
})
