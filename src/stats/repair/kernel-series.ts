// One cgroup's values by series, read when the first value of the runtime looks wrong.
import type { ExtraLabels, Family } from '../catalogue/family.js'
import { memoryFamilies as memory } from '../catalogue/memory.js'
import { alwaysFamilies as always } from '../catalogue/times-and-limits.js'
import type { CgroupValues } from '../cgroup/container-stats.js'
import { emitCgroup } from '../collectors/index.js'
import type { KernelValues } from './value-rules.js'

export interface KernelSeries {
  /** The cgroup was read, and has nothing of this family. */
  lacks(family: Pick<Family, 'name'>): boolean
  values(family: Pick<Family, 'name'>, extra: ExtraLabels | undefined): KernelValues
}

const keyOf = ({ name }: Pick<Family, 'name'>, extra?: ExtraLabels): string => `${name} ${extra?.key ?? ''}`

function toSeries(values: CgroupValues | undefined): KernelSeries {
  const known = new Map<string, bigint>()
  if (values !== undefined)
    emitCgroup(values, (family, value, extra) => known.set(keyOf(family, extra), value))
  return {
    lacks: (family) => known.size > 0 && !known.has(keyOf(family)),
    values: (family, extra) => ({
      same: known.get(keyOf(family, extra)),
      usageBytes: known.get(keyOf(memory.container_memory_usage_bytes)),
      swapBytes: known.get(keyOf(memory.container_memory_swap)),
      limitBytes: known.get(keyOf(always.container_spec_memory_limit_bytes)),
    }),
  }
}

export function kernelSeries(read: () => CgroupValues | undefined): () => KernelSeries {
  let known: KernelSeries | undefined
  return () => {
    known ??= toSeries(read())
    return known
  }
}
