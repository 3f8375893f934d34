// Removes a cgroup and the empty ones below it. A process that has just ended keeps its cgroup busy for a moment,
// so EBUSY is asked again until the time is up.
import { rmdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cgroupError, errnoOf, isAbsent } from '../../core/cgroup/errors.js'
import { keelsonError, rethrowBug } from '../../core/errors.js'
import type { CgroupPath, RemoveOptions } from '../../ports/cgroups.js'
import { readWordsOf } from './ensure.js'
import { directory, type Hierarchy } from './hierarchy.js'
import { walkTree } from './list.js'

const TIMEOUT_MS = 2_000
const RETRY_MS = 20

/** Undefined: removed. Otherwise the cause of the refusal, if it may pass. */
function tryRemove(root: string, path: CgroupPath): unknown {
  try {
    rmdirSync(directory(root, path))
    return undefined
  } catch (error) {
    if (isAbsent(error)) return undefined
    if (errnoOf(error) === 'EBUSY') return error
    throw cgroupError(`remove ${path}`, { path }, error)
  }
}

function busy(root: string, path: CgroupPath, cause: unknown): Error {
  const pids = (readWordsOf(root, path, 'cgroup.procs') ?? []).slice(0, 5)
  const holders = pids.length === 0 ? 'children or terminating processes' : `processes ${pids.join(', ')}`
  return keelsonError(
    'cgroup.busy',
    `remove ${path}: still has ${holders}; stop them first`,
    { path, pids },
    cause,
  )
}

export async function removeCgroup(
  hierarchy: Hierarchy,
  path: CgroupPath,
  { timeoutMs = TIMEOUT_MS, signal, killProcesses = false }: RemoveOptions = {},
): Promise<void> {
  if (path === '/')
    throw keelsonError('cgroup.invalid-path', 'remove /: the root cgroup cannot be removed', { path })
  const deadline = performance.now() + timeoutMs
  const removeFrom = async (root: string): Promise<void> => {
    for (const one of walkTree({ ...hierarchy, roots: [root] }, path).toReversed())
      for (;;) {
        signal?.throwIfAborted()
        const cause = tryRemove(root, one)
        if (cause === undefined) break
        if (killProcesses) killMembers(root, one)
        if (performance.now() >= deadline) throw busy(root, one, cause)
        await sleep(RETRY_MS, undefined, signal === undefined ? {} : { signal })
      }
  }
  for (const root of hierarchy.roots) await removeFrom(root)
  for (const root of hierarchy.runtimeRoots)
    await removeFrom(root).catch((e: unknown) => {
      signal?.throwIfAborted()
      // The runtime's own; it may be mounted read-only here.
      rethrowBug(e)
    })
}

/** Processes that the runtime has lost: nothing else will end them. */
function killMembers(root: string, path: CgroupPath): void {
  // 0: of another process namespace.
  for (const pid of (readWordsOf(root, path, 'cgroup.procs') ?? []).map(Number))
    if (pid > 1)
      try {
        process.kill(pid, 'SIGKILL')
      } catch (e) {
        if (errnoOf(e) !== 'ESRCH') throw cgroupError(`kill process ${pid} of ${path}`, { path, pid }, e)
      }
}
