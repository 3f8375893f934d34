// Removes a private containerd from the machine, from the records in its directory: processes, mounts, network,
// firewall rules, cgroups, files. Works for any parent and any exit.
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPidStat } from '../../adapters/procfs/pid-stat.js'
import { runProgram } from '../process.js'
import type { ContainerdPlan } from './config.js'

type Remembered = Pick<ContainerdPlan, 'dir' | 'root' | 'socket' | 'bridge' | 'network'> & {
  /** Cgroup directories that were there before us, and firewall chains that CNI shares. */
  readonly cgroups: readonly string[]
  readonly chains: readonly string[]
  /** The bridge plugin switches forwarding on for the whole machine. */
  readonly ipForward: string
}

const cgroupRoot = '/sys/fs/cgroup'
const note = 'remember.json'
const ipForwardFile = '/proc/sys/net/ipv4/ip_forward'
/** How our bridges on a host are called, so that one instance sees whether another still needs forwarding. */
export const bridgePrefix = 'kl'

export async function rememberHost(plan: ContainerdPlan): Promise<void> {
  const { dir, root, socket, bridge, network } = plan
  const remembered: Remembered = {
    dir,
    root,
    socket,
    bridge,
    network,
    cgroups: await cgroupDirectories(),
    chains: (await natRules('iptables')).filter((r) => r.startsWith('-N ')),
    ipForward: await readFile(ipForwardFile, 'utf8').catch(() => ''),
  }
  await writeFile(join(dir, note), JSON.stringify(remembered))
}

export async function cleanContainerd(dir: string): Promise<void> {
  const text = await readFile(join(dir, note), 'utf8').catch(() => undefined)
  if (text === undefined) return
  const remembered = JSON.parse(text) as Remembered
  const used = await endProcesses(remembered)
  await unmountBelow([remembered.dir, remembered.root])
  await removeCgroups(used, new Set(remembered.cgroups))
  await removeNetwork(remembered)
  for (const path of [remembered.socket, `${remembered.socket}.ttrpc`]) await unlink(path).catch(() => {})
  await rm(remembered.root, { recursive: true, force: true, maxRetries: 5 })
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((n) => /^\d+$/.test(n))
  const list = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readPidStat(Number(pid))
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), parent: stat?.parent ?? 0, command: command.replaceAll('\0', ' ') }
    }),
  )
  return list
}

const below = (all: readonly Process[], roots: ReadonlySet<number>): number[] => {
  const found = new Set(roots)
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const p of all) if (found.has(p.parent)) found.add(p.pid)
  }
  return [...found]
}

/** Kills the daemon, its shims (their command lines name our socket or directory) and all below them. */
async function endProcesses({ dir, socket }: Remembered): Promise<Set<string>> {
  const used = new Set<string>()
  for (let round = 0; round < 100; round++) {
    const all = await processes()
    const roots = all.filter(
      (p) =>
        p.pid !== process.pid &&
        (p.command.includes(` -address ${socket} `) || p.command.includes(`--config ${dir}/config.toml`)),
    )
    const doomed = below(all, new Set(roots.map((p) => p.pid))).filter((pid) => pid !== process.pid)
    if (doomed.length === 0) break
    for (const pid of doomed) {
      for (const path of await cgroupsOf(pid)) used.add(path)
      for (const socketFile of await shimSockets(dir)) await unlink(socketFile).catch(() => {})
    }
    for (const pid of doomed)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    await sleep(30)
  }
  return used
}

/** Shims listen below /run/containerd/s, outside of every configurable directory; their bundles say where. */
async function shimSockets(dir: string): Promise<string[]> {
  const bundles = join(dir, 'state/io.containerd.runtime.v2.task/k8s.io')
  const ids = await readdir(bundles).catch(() => [])
  const found = await Promise.all(
    ids.map((id) => readFile(join(bundles, id, 'address'), 'utf8').catch(() => '')),
  )
  return found.filter((a) => a.startsWith('unix://')).map((a) => a.slice('unix://'.length).trim())
}

async function cgroupsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((parts) => parts.length >= 3)
    .flatMap(([, controllers = '', ...path]) => {
      const name = controllers.replace('name=', '')
      const relative = path.join(':')
      const roots = name === '' ? [cgroupRoot, join(cgroupRoot, 'unified')] : [join(cgroupRoot, name)]
      return relative === '/' ? [] : roots.map((r) => join(r, relative))
    })
    .filter((path) => existsSync(path))
}

const directories = (path: string): Promise<string[]> =>
  readdir(path, { withFileTypes: true }).then(
    (list) => list.filter((e) => e.isDirectory()).map((e) => join(path, e.name)),
    () => [], // gone while we looked
  )

async function walk(path: string): Promise<string[]> {
  const below = await Promise.all((await directories(path)).map(walk))
  return [path, ...below.flat()]
}

/** The first level of each hierarchy, and all of what looks like a kubelet's tree: deeper down nothing is ours. */
async function cgroupDirectories(): Promise<string[]> {
  const isV2 = existsSync(join(cgroupRoot, 'cgroup.controllers'))
  const roots = isV2 ? [cgroupRoot] : await directories(cgroupRoot)
  const firstLevel = (await Promise.all(roots.map(directories))).flat()
  const kubepods = firstLevel.filter((path) => basename(path).startsWith('kubepods'))
  return [...firstLevel, ...(await Promise.all(kubepods.map(walk))).flat()]
}

const firstLevelOf = (path: string): string => {
  const parts = path.slice(cgroupRoot.length + 1).split('/')
  const depth = existsSync(join(cgroupRoot, 'cgroup.controllers')) ? 1 : 2
  return join(cgroupRoot, ...parts.slice(0, depth))
}

/** The cgroups that held our processes, and empty parents above them that were not there before us. */
async function removeCgroups(used: ReadonlySet<string>, before: ReadonlySet<string>): Promise<void> {
  const candidates = new Set(used)
  for (const path of used) {
    const top = firstLevelOf(path)
    if (before.has(top) && !basename(top).startsWith('kubepods')) continue
    for (let up = dirname(path); up.startsWith(top); up = dirname(up)) candidates.add(up)
  }
  // A sandbox that was removed in order leaves its pod's directory behind. It is only safe to call such directories
  // ours when no other process runs pods here.
  const alone = !(await processes()).some((p) => /(^|\/)(containerd|crio|kubelet) /.test(p.command))
  if (alone) for (const path of await cgroupDirectories()) if (/\/kubepods/.test(path)) candidates.add(path)
  const deepestFirst = [...candidates].filter((p) => !before.has(p)).sort((a, b) => b.length - a.length)
  for (const path of deepestFirst)
    for (let attempt = 0; attempt < 20 && existsSync(path); attempt++) {
      const busy = await rmdir(path).then(
        () => false,
        (e: NodeJS.ErrnoException) => e.code === 'EBUSY' && used.has(path),
      )
      if (!busy) break
      await sleep(25)
    }
}

async function unmountBelow(roots: readonly string[]): Promise<void> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  const points = text
    .split('\n')
    .map((line) => (line.split(' ')[4] ?? '').replaceAll('\\040', ' '))
    .filter((point) => roots.some((root) => point === root || point.startsWith(`${root}/`)))
  for (const point of points.reverse()) await runProgram(['umount', '-l', point])
}

async function natRules(command: string): Promise<string[]> {
  const { code, output } = await runProgram([command, '-t', 'nat', '-S']).catch(() => ({
    code: 1,
    output: '',
  }))
  return code === 0 ? output.split('\n').filter((l) => l.startsWith('-')) : []
}

/** `-A CHAIN -m comment --comment "name: \"x\" id: \"y\"" ...` as arguments; iptables quotes only this way. */
const words = (rule: string): string[] =>
  (rule.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? []).map((w) =>
    w.startsWith('"') ? w.slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\') : w,
  )

async function removeNetwork({ bridge, network, chains, ipForward }: Remembered): Promise<void> {
  await runProgram(['ip', 'link', 'del', bridge]).catch(() => undefined)
  const others = (await readdir('/sys/class/net').catch(() => [])).filter((n) => n.startsWith(bridgePrefix))
  if (ipForward !== '' && others.length === 0) await writeFile(ipForwardFile, ipForward).catch(() => {})
  for (const command of ['iptables', 'ip6tables']) {
    const rules = await natRules(command)
    const ours = rules.filter((r) => r.startsWith('-A ') && r.includes(network))
    const jumps = new Set(ours.map((r) => / -j (CNI-\S+)/.exec(r)?.[1]).filter((c) => c !== undefined))
    for (const rule of ours) await runProgram([command, '-t', 'nat', '-D', ...words(rule).slice(1)])
    for (const chain of jumps) await runProgram([command, '-t', 'nat', '-F', chain])
    for (const chain of jumps) await runProgram([command, '-t', 'nat', '-X', chain])
    await removeSharedChains(command, new Set(chains))
  }
  const results = '/var/lib/cni/results'
  for (const file of await readdir(results).catch(() => []))
    if (file.startsWith(`${network}-`)) await unlink(join(results, file)).catch(() => {})
}

/** portmap's chains are shared by all networks: they are removed if this run created them and no other rules use them. */
async function removeSharedChains(command: string, before: ReadonlySet<string>): Promise<void> {
  const rules = await natRules(command)
  const chains = rules.filter((r) => /^-N CNI-/.test(r) && !before.has(r)).map((r) => r.slice(3))
  const shared = chains.filter((c) => /^CNI-HOSTPORT-/.test(c))
  const inUse = rules.some((r) => /^-A CNI-HOSTPORT-DNAT /.test(r))
  if (inUse) return
  for (const chain of shared)
    for (const rule of rules.filter((r) => r.startsWith('-A ') && r.endsWith(` -j ${chain}`)))
      await runProgram([command, '-t', 'nat', '-D', ...words(rule).slice(1)])
  for (const option of ['-F', '-X'])
    for (const chain of shared) await runProgram([command, '-t', 'nat', option, chain])
}
