// The shape of a collector: reads the files of one subject of one cgroup into values, on v1 or on v2, and turns values
// into series. Reading is the hot path and synchronous; emitting happens only on a scrape.
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { Emit } from '../catalogue/family.js'
import type { Device } from './device.js'

/** Whose cgroup it is: families of containers only are not read for a pod. */
export type Scope = 'container' | 'pod' | 'node'

export interface CollectContext {
  readonly cgroups: Pick<CgroupTree, 'version' | 'read' | 'controllers'>
  readonly procfs: Pick<Procfs, 'openFiles' | 'maxOpenFiles'>
  /** Only where container_tasks_state is switched on. */
  readonly taskStates?: Procfs['taskStates']
  /** Labels of a block device, by `8:0`. */
  readonly device: (majorMinor: string) => Device
  /**
   * Profile upstream, where cAdvisor's answer differs: PSI that the kernel does not count is 0, page faults of a v1
   * cgroup are its own alone, and a node without eth0 has no default interface.
   */
  readonly asCadvisor?: boolean
  /** Sizes that this kernel keeps files for, as in their names: `2MB`. */
  readonly hugePageSizes: (path: CgroupPath) => readonly string[]
}

export interface Collector<F> {
  /** Undefined: the kernel has nothing on it here, or the cgroup has gone. */
  read(path: CgroupPath, scope: Scope, context: CollectContext): F | undefined
  emit(values: F, emit: Emit): void
}

/** The v2 and v1 forms of one reader. */
export type ReadValues<F> = Collector<F>['read']

export const byVersion =
  <F>(v2: ReadValues<F>, v1: ReadValues<F>): ReadValues<F> =>
  (path, scope, context) =>
    (context.cgroups.version === 'v2' ? v2 : v1)(path, scope, context)
