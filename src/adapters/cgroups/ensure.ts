// Creates a cgroup: directories from the root down, on v2 with the wanted controllers enabled at every level above it,
// on v1 in every hierarchy.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cgroupError, errnoOf, isAbsent } from '../../core/cgroup/errors.js'
import { childPath, parentPath, splitPath } from '../../core/cgroup/path.js'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { CgroupPath, EnsureOptions } from '../../ports/cgroups.js'
import { directory, type Hierarchy } from './hierarchy.js'
import { writeOnce } from './write-once.js'

/** Controllers whose files Keelson writes or reads. */
const usedControllers: readonly string[] = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids']

export function readWordsOf(root: string, path: CgroupPath, file: string): readonly string[] | undefined {
  try {
    const text = readFileSync(join(directory(root, path), file), 'latin1')
    return text.split(/\s+/).filter((word) => word !== '')
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw cgroupError(`read ${file} of ${path}`, { path, file }, error)
  }
}

function makeDirectory(root: string, path: CgroupPath): void {
  try {
    mkdirSync(directory(root, path))
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw cgroupError(`create ${path} in ${root}`, { path }, error)
  }
}

function enable(root: string, path: CgroupPath, wanted: readonly string[], required: boolean): void {
  const available = readWordsOf(root, path, 'cgroup.controllers') ?? []
  const missing = wanted.filter((name) => !available.includes(name))
  if (required && missing.length > 0)
    throw keelsonError(
      'cgroup.controller-missing',
      `enable ${missing.join(', ')} below ${path}: not available there, only ${available.join(', ') || 'none'}; ` +
        'enable them in the parent, or boot with them',
      { path, missing, available },
    )
  const enabled = readWordsOf(root, path, 'cgroup.subtree_control') ?? []
  const lacking = wanted.filter((name) => available.includes(name) && !enabled.includes(name))
  if (lacking.length === 0) return
  const value = lacking.map((name) => `+${name}`).join(' ')
  try {
    writeOnce(join(directory(root, path), 'cgroup.subtree_control'), value)
  } catch (error) {
    throw cgroupError(
      `write cgroup.subtree_control=${value} to ${path}`,
      { path, controllers: lacking },
      error,
    )
  }
}

function ensureUnified(root: string, path: CgroupPath, { controllers, signal }: EnsureOptions): void {
  const wanted = controllers ?? usedControllers
  let at: CgroupPath = '/'
  for (const name of splitPath(path)) {
    signal?.throwIfAborted()
    enable(root, at, wanted, controllers !== undefined)
    at = childPath(at, name)
    makeDirectory(root, at)
  }
}

/** v1: a new cpuset has no processors and no memory nodes, and takes no process until it does. */
function inheritCpuset(root: string, path: CgroupPath): void {
  const parent = parentPath(path)
  if (parent === undefined) return
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const target = join(directory(root, path), file)
    if (!existsSync(target) || readFileSync(target, 'latin1').trim() !== '') continue
    inheritCpuset(root, parent)
    const value = readFileSync(join(directory(root, parent), file), 'latin1').trim()
    try {
      writeOnce(target, value)
    } catch (error) {
      throw cgroupError(`write ${file}=${value} to ${path}`, { path, file }, error)
    }
  }
}

/** From the leaf up: only the first pod finds parents missing, and each mkdir may wait for the kernel's lock. */
function makeDirectories(root: string, path: CgroupPath): void {
  try {
    makeDirectory(root, path)
  } catch (error) {
    const parent = parentPath(path) ?? '/'
    if (parent === '/' || !isKeelsonError(error) || error.code !== 'cgroup.gone') throw error
    makeDirectories(root, parent)
    makeDirectory(root, path)
  }
}

function stepsOnV1(hierarchy: Hierarchy, path: CgroupPath, { controllers }: EnsureOptions): (() => void)[] {
  const missing = (controllers ?? []).filter((name) => !hierarchy.controllers.has(name))
  if (missing.length > 0)
    throw keelsonError(
      'cgroup.controller-missing',
      `create ${path} with ${missing.join(', ')}: no such v1 hierarchy is mounted; boot with the controller`,
      { path, missing, available: [...hierarchy.controllers.keys()] },
    )
  return hierarchy.roots.map((root) => () => {
    if (path === '/') return
    makeDirectories(root, path)
    if (root === hierarchy.controllers.get('cpuset')) inheritCpuset(root, path)
  })
}

/** One for each hierarchy, to be carried out in order: each may wait for the kernel's lock. */
export function stepsToCgroup(
  hierarchy: Hierarchy,
  path: CgroupPath,
  options: EnsureOptions,
): readonly (() => void)[] {
  if (hierarchy.version === 'v1') return stepsOnV1(hierarchy, path, options)
  return hierarchy.roots.map((root) => () => ensureUnified(root, path, options))
}
