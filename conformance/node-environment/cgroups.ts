// The environment's own cgroup in every hierarchy, made and removed from the outside. Inside, a cgroup namespace makes it
// the root, so that two kubelets with `cgroupRoot: /` do not remove each other's pods.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hierarchy } from './plan.js'

const root = '/sys/fs/cgroup'
const pathOf = (hierarchy: Hierarchy, name: string): string => join(root, hierarchy.name, name)

/** Files to write a process id to, one per hierarchy. */
export async function createCgroups(hierarchies: readonly Hierarchy[], name: string): Promise<string[]> {
  for (const hierarchy of hierarchies) {
    const path = pathOf(hierarchy, name)
    await mkdir(path, { recursive: true })
    if (hierarchy.type !== 'cgroup' || !existsSync(join(path, 'cpuset.cpus'))) continue
    // A cpuset of v1 takes no process before it has CPUs and memory nodes; its children copy them.
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      await writeFile(join(path, file), await readFile(join(path, '..', file)))
    await writeFile(join(path, 'cgroup.clone_children'), '1')
  }
  return hierarchies.map((h) => join(pathOf(h, name), 'cgroup.procs'))
}

/** Deepest first. */
async function cgroupsBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  const below = await Promise.all(
    entries.filter((e) => e.isDirectory()).map((e) => cgroupsBelow(join(path, e.name))),
  )
  return [...below.flat(), path]
}

/** Ends what still runs in them and removes them. True when nothing is left. */
export async function removeCgroups(
  hierarchies: readonly Hierarchy[],
  name: string,
  timeoutMs = 30_000,
): Promise<boolean> {
  const tops = hierarchies.map((h) => pathOf(h, name))
  const deadline = Date.now() + timeoutMs
  for (;;) {
    for (const top of tops)
      if (existsSync(top))
        for (const path of await cgroupsBelow(top)) {
          await killMembers(path)
          await rmdir(path).catch(() => {})
        }
    if (!tops.some((t) => existsSync(t))) return true
    if (Date.now() > deadline) return false
    await sleep(100)
  }
}

async function killMembers(path: string): Promise<void> {
  const procs = await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '')
  for (const pid of procs.split('\n').map(Number))
    if (pid > 1)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // it ended by itself
      }
}
