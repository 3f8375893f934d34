// What pods leave on a node: everything that was not there before the first one. The kubelet's part and the runtime's apart.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insideDirectory } from '../node-environment/plan.js'

const root = '/sys/fs/cgroup'
/** Of the kubelet: where each pod has an entry of its own. */
const podDirectories = [
  '/var/lib/kubelet/pods',
  '/var/lib/kubelet/keelson-pods',
  '/var/log/pods',
  '/var/log/containers',
]
/** Of the runtime and its network plugins. */
const runtimeDirectories = [
  '/run/netns',
  '/sys/class/net',
  '/run/containerd/state/io.containerd.runtime.v2.task/k8s.io',
  join(insideDirectory, 'ipam/pods'),
]
/** The allocator's own, and the bridge that the first pod makes. */
const stays = new Set(['last_reserved_ip.0', 'lock', 'cni0'])

export interface NodeEntries {
  readonly kubelet: ReadonlySet<string>
  readonly runtime: ReadonlySet<string>
}

async function cgroupsBelow(path: string, depth = 6): Promise<readonly string[]> {
  if (depth === 0) return []
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  const below = entries.filter((e) => e.isDirectory()).map((e) => cgroupsBelow(join(path, e.name), depth - 1))
  return [path, ...(await Promise.all(below)).flat()]
}

const entriesOf = async (directories: readonly string[]): Promise<readonly string[]> => {
  const all = directories.map(async (directory) => {
    const names = await readdir(directory).catch(() => [])
    return names.filter((name) => !stays.has(name)).map((name) => join(directory, name))
  })
  return (await Promise.all(all)).flat()
}

async function mountPoints(): Promise<readonly string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  return lines.map((line) => line.split(' ')[4] ?? '').filter((path) => path !== '')
}

const shimName = 'containerd-shim'
/** A shim, or the empty file that a network namespace was mounted on: made or removed in the moment in which containerd was killed. */
export const isOfKilledRuntime = (entry: string): boolean =>
  entry.includes(`(${shimName}`) || entry.startsWith('/run/netns/')

async function shims(): Promise<readonly string[]> {
  const found: string[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (name.startsWith(shimName)) found.push(`process ${pid} (${name.trim()})`)
  }
  return found
}

export async function readEntries(): Promise<NodeEntries> {
  const mounts = (await mountPoints()).map((path) => `mount ${path}`)
  const isRuntimes = (path: string): boolean => path.startsWith('mount /run/')
  return {
    kubelet: new Set([
      ...(await cgroupsBelow(root)).filter((path) => /\/pod[0-9a-f-]{32,36}(\/|$)/.test(path)),
      ...(await entriesOf(podDirectories)),
      ...mounts.filter((m) => !isRuntimes(m)),
    ]),
    runtime: new Set([
      ...(await entriesOf(runtimeDirectories)),
      ...mounts.filter(isRuntimes),
      ...(await shims()),
    ]),
  }
}

const added = (before: ReadonlySet<string>, now: ReadonlySet<string>): readonly string[] =>
  [...now].filter((entry) => !before.has(entry))

export async function leftSince(
  before: NodeEntries,
): Promise<{ readonly kubelet: readonly string[]; readonly runtime: readonly string[] }> {
  const now = await readEntries()
  return { kubelet: added(before.kubelet, now.kubelet), runtime: added(before.runtime, now.runtime) }
}
