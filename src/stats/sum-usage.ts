// Usage of several containers as one. For pods without a cgroup of their own.
import type { CpuUsage, MemoryUsage, SwapUsage, Usage } from './usage.js'

type Known<T> = readonly [T, ...T[]]

const known = <T>(values: readonly (T | undefined)[]): Known<T> | undefined => {
  const [first, ...rest] = values.filter((v) => v !== undefined)
  return first === undefined ? undefined : [first, ...rest]
}

/** A part that is unknown makes the sum unknown. */
function add<T>(items: Known<T>, pick: (item: T) => bigint | undefined): bigint | undefined {
  let sum = 0n
  for (const item of items) {
    const value = pick(item)
    if (value === undefined) return undefined
    sum += value
  }
  return sum
}

const sumCpu = (items: Known<CpuUsage> | undefined): CpuUsage | undefined =>
  items && {
    timeNanos: items[0].timeNanos,
    usageCoreNanoSeconds: add(items, (c) => c.usageCoreNanoSeconds),
    usageNanoCores: add(items, (c) => c.usageNanoCores),
    psi: undefined,
  }

const sumMemory = (items: Known<MemoryUsage> | undefined): MemoryUsage | undefined =>
  items && {
    timeNanos: items[0].timeNanos,
    availableBytes: add(items, (m) => m.availableBytes),
    usageBytes: add(items, (m) => m.usageBytes),
    workingSetBytes: add(items, (m) => m.workingSetBytes),
    rssBytes: add(items, (m) => m.rssBytes),
    pageFaults: add(items, (m) => m.pageFaults),
    majorPageFaults: add(items, (m) => m.majorPageFaults),
    psi: undefined,
  }

export const sumSwap = (items: readonly (SwapUsage | undefined)[]): SwapUsage | undefined => {
  const all = known(items)
  return (
    all && {
      timeNanos: all[0].timeNanos,
      availableBytes: add(all, (s) => s.availableBytes),
      usageBytes: add(all, (s) => s.usageBytes),
    }
  )
}

export const noUsage: Usage = { cpu: undefined, memory: undefined, swap: undefined, io: undefined }

/** Pressure does not add up and is left out. */
export const sumUsage = (parts: readonly Usage[]): Usage => ({
  cpu: sumCpu(known(parts.map((p) => p.cpu))),
  memory: sumMemory(known(parts.map((p) => p.memory))),
  swap: sumSwap(parts.map((p) => p.swap)),
  io: undefined,
})
