// Where a cgroup's directories and files are: one hierarchy on v2, one per controller on v1.
import { join } from 'node:path'
import { type CgroupLayout, controlVersion } from '../../core/cgroup/layout.js'
import { checkControlFile, controllerOf, splitPath } from '../../core/cgroup/path.js'
import { keelsonError } from '../../core/errors.js'

export interface Hierarchy {
  readonly version: 'v1' | 'v2'
  /** Distinct root directories; on v2 exactly one. */
  readonly roots: readonly string[]
  /** v1: controller -> root directory. Empty on v2. */
  readonly controllers: ReadonlyMap<string, string>
  /** v1: roots where only the runtime makes cgroups (devices, freezer, systemd's). They are removed with the others. */
  readonly runtimeRoots: readonly string[]
  /** Undefined: no hierarchy has a file of this name. */
  file(path: string, file: string): string | undefined
}

/** Checked on every call that makes a file name: a bad path throws and never reaches the file system. */
export const directory = (root: string, path: string): string => join(root, ...splitPath(path))

export function unifiedHierarchy(root: string): Hierarchy {
  return {
    version: 'v2',
    roots: [root],
    controllers: new Map(),
    runtimeRoots: [],
    file(path, file) {
      checkControlFile(file)
      return join(directory(root, path), file)
    },
  }
}

/** Files that every v1 hierarchy has (`tasks`, `cgroup.procs`) are read in the cpu one, as cAdvisor does, or in the first. */
export function splitHierarchy(
  controllers: ReadonlyMap<string, string>,
  others: readonly string[] = [],
): Hierarchy {
  const roots = [...new Set(controllers.values())]
  const everywhere = controllers.get('cpu') ?? roots[0]
  return {
    version: 'v1',
    roots,
    controllers,
    runtimeRoots: others.filter((root, i) => !roots.includes(root) && others.indexOf(root) === i),
    file(path, file) {
      checkControlFile(file)
      const controller = controllerOf(file)
      const root = controller === undefined ? everywhere : controllers.get(controller)
      return root === undefined ? undefined : join(directory(root, path), file)
    },
  }
}

/** Controllers of v1 that Keelson reads or writes; the others are the container runtime's business. */
const usedOnV1 = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'blkio', 'hugetlb']

export function hierarchyOf(layout: CgroupLayout): Hierarchy {
  if (controlVersion(layout) === 'v2' && layout.unified !== undefined) return unifiedHierarchy(layout.unified)
  const used = new Map([...layout.hierarchies].filter(([name]) => usedOnV1.includes(name)))
  if (used.size === 0)
    throw keelsonError(
      'cgroup.not-mounted',
      `find the cgroup hierarchies: none of ${usedOnV1.join(', ')} is mounted`,
    )
  const { hierarchies, named = [], unified } = layout
  return splitHierarchy(used, [
    ...hierarchies.values(),
    ...named,
    ...(unified === undefined ? [] : [unified]),
  ])
}
