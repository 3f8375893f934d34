// Lists cgroups: children of one, and bounded walks. Only directories count, and links are never followed.
import { readdirSync } from 'node:fs'
import { cgroupError, isAbsent } from '../../core/cgroup/errors.js'
import { childPath } from '../../core/cgroup/path.js'
import type { CgroupPath, WalkOptions } from '../../ports/cgroups.js'
import { directory, type Hierarchy } from './hierarchy.js'

function childrenBelow(root: string, path: CgroupPath): string[] | undefined {
  try {
    return readdirSync(directory(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw cgroupError(`list ${path}`, { path }, error)
  }
}

/** On v1 a cgroup has the children that it has in any hierarchy. */
export function listChildren(hierarchy: Hierarchy, path: CgroupPath): readonly string[] | undefined {
  const found = hierarchy.roots
    .map((root) => childrenBelow(root, path))
    .filter((names) => names !== undefined)
  return found.length === 0 ? undefined : [...new Set(found.flat())].sort()
}

/** On v1 in the first hierarchy that has it. */
function listInOne({ roots }: Hierarchy, path: CgroupPath): readonly string[] | undefined {
  for (const root of roots) {
    const names = childrenBelow(root, path)
    if (names !== undefined) return names.sort()
  }
  return undefined
}

const MAX_DEPTH = 16
const MAX_CGROUPS = 100_000

export function walkTree(
  hierarchy: Hierarchy,
  start: CgroupPath,
  { maxDepth = MAX_DEPTH, maxCgroups = MAX_CGROUPS, isLeaf, inOneHierarchy = false }: WalkOptions = {},
): readonly CgroupPath[] {
  const list = inOneHierarchy ? listInOne : listChildren
  const paths: CgroupPath[] = []
  const visit = (path: CgroupPath, depth: number): void => {
    const names = list(hierarchy, path)
    if (names === undefined || paths.length >= maxCgroups) return
    paths.push(path)
    if (depth >= maxDepth) return
    for (const name of names) {
      const below = childPath(path, name)
      if (isLeaf?.(name) !== true) visit(below, depth + 1)
      else if (paths.length < maxCgroups) paths.push(below)
    }
  }
  visit(start, 0)
  return paths
}
