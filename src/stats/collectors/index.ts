// The collectors of a cgroup. This list is what a sweep reads and a scrape prints, in its order. Network interfaces belong
// to a namespace and not to a cgroup: network.ts.
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Emit } from '../catalogue/family.js'
import type { CollectContext, Collector, Scope } from './collector.js'
import { cpu } from './cpu.js'
import { diskIo } from './disk-io.js'
import { hugetlb } from './hugetlb.js'
import { memory } from './memory.js'
import { pressure } from './pressure.js'
import { processes } from './processes.js'

/** By the name under which a sweep keeps the values. */
const collectors = { cpu, memory, pressure, io: diskIo, hugePages: hugetlb, processes } as const

type Name = keyof typeof collectors
type ValuesOf<C> = C extends Collector<infer V> ? V : never

/** What each collector found. Undefined: the kernel has nothing on it here. */
export type CollectedValues = {
  readonly [N in Name]: ValuesOf<(typeof collectors)[N]> | undefined
}

const entries = Object.entries(collectors) as readonly [Name, Collector<unknown>][]

export function readCollectors(path: CgroupPath, scope: Scope, context: CollectContext): CollectedValues {
  const values: Partial<Record<Name, unknown>> = {}
  for (const [name, collector] of entries) values[name] = collector.read(path, scope, context)
  // Each name has what its own collector gave.
  return values as CollectedValues
}

export function emitCgroup(values: CollectedValues, emit: Emit): void {
  for (const [name, collector] of entries) if (values[name] !== undefined) collector.emit(values[name], emit)
}
