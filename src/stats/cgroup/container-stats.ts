// All values of one cgroup at one time, and the same in the terms of CRI.
import type { NetDev } from '../../core/kernel-text/net-dev.js'
import type { Pressure, PressureLine } from '../../core/kernel-text/pressure.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { CollectContext, Scope } from '../collectors/collector.js'
import { type CollectedValues, readCollectors } from '../collectors/index.js'
import { availableBelow } from '../collectors/memory-values.js'
import type { NetworkValues } from '../collectors/network.js'
import { type CpuReading, usageNanoCores } from '../cpu-rate.js'
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

/** Values of one cgroup at one time. */
export interface CgroupValues extends CollectedValues {
  readonly timeNanos: bigint
}

/** Undefined: the cgroup is not there (any more). */
export function readCgroup(
  path: CgroupPath,
  scope: Scope,
  context: CollectContext,
  nowNanos: () => bigint,
): CgroupValues | undefined {
  const timeNanos = nowNanos()
  const values = readCollectors(path, scope, context)
  return values.cpu === undefined && values.memory === undefined ? undefined : { timeNanos, ...values }
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
const psiFrom = (p: Pressure | undefined): Psi | undefined =>
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

export function memoryUsage({
  timeNanos,
  memory: m,
  pressure,
}: Pick<CgroupValues, 'timeNanos' | 'memory' | 'pressure'>): MemoryUsage | undefined {
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
