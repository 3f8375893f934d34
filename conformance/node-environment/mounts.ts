// Inside the environment: private copies of everything that a kubelet, a runtime or a spec writes to. The root of the
// host is read-only, directories of it are overlays, and settings of the whole kernel are plain files.
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { findCommand } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'
import { type EnvironmentPlan, type Hierarchy, insideCache, insideDirectory, nodeAddress } from './plan.js'

const mount = (...args: string[]): Promise<string> => mustRun(['mount', ...args])

/** On the environment's own file system, where overlayfs and quotas work. */
const ownDirectories = [
  '/var/lib/kubelet',
  '/var/lib/containerd',
  '/var/lib/containers',
  '/var/lib/cni',
  '/var/lib/keelson',
  '/var/log/pods',
  '/var/log/containers',
]
const overlays = ['/etc', '/var', '/usr/libexec', '/opt', '/root', '/home', '/srv']

/** The kernel has one value for all namespaces; the upstream kubelet writes them at its start. */
const sharedSettings = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
]

async function mountCgroups(hierarchies: readonly Hierarchy[]): Promise<void> {
  if (hierarchies.some((h) => h.name !== ''))
    await mount('-t', 'tmpfs', '-o', 'mode=755', 'cgroups', '/sys/fs/cgroup')
  for (const { name, type, options } of hierarchies) {
    const target = join('/sys/fs/cgroup', name)
    await mkdir(target, { recursive: true })
    const flags = options.length === 0 ? [] : ['-o', options.join(',')]
    await mount('-t', type, ...flags, 'cgroup', target)
  }
}

async function mountOverlay(path: string): Promise<void> {
  const [upper, work] = ['upper', 'work'].map((k) => join(insideDirectory, 'overlays', path, k)) as [
    string,
    string,
  ]
  for (const dir of [upper, work]) await mkdir(dir, { recursive: true })
  await mount('-t', 'overlay', '-o', `lowerdir=${path},upperdir=${upper},workdir=${work}`, 'overlay', path)
}

/** Goes with the mount namespace, loop device included. */
async function mountDisk(gib: number): Promise<void> {
  const [image, target] = ['disk.img', 'own'].map((name) => join(insideDirectory, name)) as [string, string]
  await writeFile(image, '')
  await truncate(image, gib * 1024 ** 3)
  await mkdir(target, { recursive: true })
  await mustRun(['mkfs.ext4', '-q', '-F', image])
  await mount('-o', 'loop', image, target)
}

async function bindOwn(path: string, mode = 0o755): Promise<void> {
  const own = join(insideDirectory, 'own', path)
  for (const dir of [own, path]) await mkdir(dir, { recursive: true })
  await chmod(own, mode)
  await mount('--bind', own, path)
}

async function coverSharedSettings(): Promise<void> {
  for (const name of sharedSettings) {
    const path = join('/proc/sys', name)
    if (!existsSync(path)) continue
    const copy = join(insideDirectory, 'settings', name)
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, await readFile(path, 'utf8'))
    await mount('--bind', copy, path)
  }
}

/** A host's systemd knows nothing of the environment. */
async function hideSystemd(): Promise<void> {
  const empty = join(insideDirectory, 'empty')
  await writeFile(empty, '', { mode: 0o644 })
  for (const command of ['systemd-run', 'systemctl']) {
    const path = findCommand(command)
    if (path !== undefined) await mount('--bind', empty, path)
  }
}

/** overlayfs cannot lie on the machine's own overlay. The lab mounts memory over some of them, without systemd. */
async function mountMemory(): Promise<void> {
  const mounted = await readFile('/proc/mounts', 'utf8')
  for (const path of ownDirectories) {
    if (mounted.includes(` ${path} `)) continue
    await mkdir(path, { recursive: true })
    // Each with a name of its own: the upstream kubelet knows only one file system of each name.
    await mount('-t', 'tmpfs', '-o', 'mode=755', basename(path), path)
  }
}

/** The same paths as in namespaces, in a machine that is ours as a whole: its root is an overlay in memory already. */
async function mountInMachine(plan: EnvironmentPlan): Promise<void> {
  for (const [from, to] of [
    [plan.directory, insideDirectory],
    [plan.cache, insideCache],
  ] as const) {
    await mkdir(to, { recursive: true })
    await mount('--bind', from, to)
  }
  await mountMemory()
  if (plan.place === 'uml') await hideSystemd()
  // cAdvisor ends the kubelet on a machine whose CPU tells no clock speed, as UML's does not.
  const cpuinfo = join(insideDirectory, 'cpuinfo')
  await writeFile(
    cpuinfo,
    `${(await readFile('/proc/cpuinfo', 'utf8')).trimEnd()}\ncpu MHz\t\t: 2000.000\n\n`,
  )
  await mount('--bind', cpuinfo, '/proc/cpuinfo')
  await mount('--make-rshared', '/')
}

export async function mountEverything(plan: EnvironmentPlan): Promise<void> {
  await (plan.place === 'host' ? mountInNamespaces(plan) : mountInMachine(plan))
  await writeFile('/proc/sys/kernel/hostname', plan.name)
  for (const [file, text] of [
    ['/etc/hosts', `127.0.0.1 localhost\n${nodeAddress} ${plan.name}\n`],
    ['/etc/resolv.conf', 'nameserver 127.0.0.1\n'],
  ] as const) {
    await rm(file, { force: true }) // on many hosts a link into /run
    await writeFile(file, text)
  }
}

async function mountInNamespaces(plan: EnvironmentPlan): Promise<void> {
  await mount('-t', 'proc', 'proc', '/proc')
  await mount('-t', 'sysfs', 'sysfs', '/sys')
  await mountCgroups(plan.hierarchies)
  await mount('-t', 'tmpfs', '-o', 'mode=755', 'mnt', '/mnt')
  await mkdir(insideDirectory)
  await mkdir(insideCache)
  await mount('--bind', plan.directory, insideDirectory)
  await mount('--bind', plan.cache, insideCache)
  await mount('-o', 'remount,bind,ro', insideCache)
  for (const path of overlays) if (existsSync(path)) await mountOverlay(path)
  if (plan.diskGiB !== undefined) await mountDisk(plan.diskGiB)
  for (const path of ownDirectories) await bindOwn(path)
  await bindOwn('/tmp', 0o1777)
  for (const path of ['/run', '/dev/shm']) await mount('-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', path)
  await chmod('/dev/shm', 0o1777)
  await coverSharedSettings()
  await hideSystemd()
  await mount('-o', 'remount,bind,ro', '/')
  // Volumes with mount propagation need a shared root; nothing of it reaches the host, whose side is private.
  await mount('--make-rshared', '/')
}
