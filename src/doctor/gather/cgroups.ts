// Reads the pod trees twice, a moment apart: settings once, what moves in both looks.
import { readControl, readControlText, readCountOrMax } from '../../core/cgroup/control-file.js'
import { decideCgroupLayout } from '../../core/cgroup/layout.js'
import {
  type CgroupDriver,
  type CgroupName,
  formatCgroupPath,
  parseCgroupfsPath,
} from '../../core/cgroup/name.js'
import { parentPath } from '../../core/cgroup/path.js'
import { parseCount } from '../../core/kernel-text/digits.js'
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import { parsePressure } from '../../core/kernel-text/pressure.js'
import { pause } from '../../core/units/retry.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Procfs } from '../../ports/procfs.js'
import { containerIdOf } from '../../stats/cgroup/locator.js'
import type { CgroupFacts } from '../facts.js'
import type { Activity, PodCgroup } from '../pod-cgroup.js'

interface CgroupsInput {
  readonly tree: CgroupTree
  readonly procfs: Pick<Procfs, 'mountInfo'>
  readonly clock: Pick<Clock, 'sleep' | 'monotonicNanos'>
  readonly cgroupRoot: string | undefined
  /** Between the two looks. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** A node has some hundred; the bound keeps the run short on one that leaks cgroups. */
const maxCgroups = 5_000
const nanosPerMs = 1_000_000n

const events = createFlatKeyedParser(['high', 'oom_kill'])
const cpuStat = createFlatKeyedParser(['usage_usec'])

export async function gatherCgroups(input: CgroupsInput): Promise<CgroupFacts> {
  const { tree, procfs, clock } = input
  const mounts = procfs.mountInfo() ?? []
  const { mode, unified } = decideCgroupLayout(mounts)
  const rootName: CgroupName = [...parseCgroupfsPath(input.cgroupRoot ?? '/'), 'kubepods']
  const existing = (driver: CgroupDriver): string | undefined => {
    const path = formatCgroupPath(rootName, driver)
    return tree.exists(path) ? path : undefined
  }
  const podTrees = { cgroupfs: existing('cgroupfs'), systemd: existing('systemd') }
  const roots = Object.values(podTrees).filter((p) => p !== undefined)
  const paths = tree.version === 'v2' ? withAncestors(tree, roots) : []
  const began = clock.monotonicNanos()
  const before = new Map(paths.map((path) => [path, readActivity(tree, path)]))
  if (paths.length > 0) await pause(clock, input.waitMs, input.signal)
  const pods = paths.flatMap((path) => readPodCgroup(tree, path, before.get(path)))
  return {
    mode,
    controllers: tree.controllers('/') ?? [],
    podControllers: roots[0] === undefined ? undefined : tree.controllers(roots[0]),
    recursiveProtection: mounts.some(
      (m) => m.mountPoint === unified && m.superOptions.includes('memory_recursiveprot'),
    ),
    topLevel: tree.version === 'v2' ? readTopLevel(tree) : [],
    pods,
    podTrees,
    intervalMs: Number((clock.monotonicNanos() - began) / nanosPerMs),
  }
}

/** A configured cgroupRoot has more ancestors, which cap the pods as well. */
function withAncestors(tree: CgroupTree, roots: readonly string[]): string[] {
  const above = roots.flatMap((root) => {
    const list: string[] = []
    for (let p = parentPath(root); p !== undefined && p !== '/'; p = parentPath(p)) list.unshift(p)
    return list
  })
  return [...new Set([...above, ...roots.flatMap((root) => tree.walk(root, { maxCgroups }))])]
}

/** `max` as a protection is more than any memory. */
const protection = (tree: CgroupTree, path: string, file: string): bigint => {
  const value = readCountOrMax(tree, path, file)
  return value === 'max' ? 2n ** 63n : (value ?? 0n)
}

function readTopLevel(tree: CgroupTree): CgroupFacts['topLevel'] {
  return (tree.children('/') ?? []).map((name) => ({
    path: `/${name}`,
    min: protection(tree, `/${name}`, 'memory.min'),
  }))
}

function readActivity(tree: CgroupTree, path: string): Activity | undefined {
  const current = readControl(tree, path, 'memory.current', (text) => parseCount(text) ?? 0n)
  if (current === undefined) return undefined
  const seen = readControl(tree, path, 'memory.events', events)
  return {
    current,
    highEvents: seen?.high ?? 0n,
    oomKills: seen?.oom_kill ?? 0n,
    cpuMicros: readControl(tree, path, 'cpu.stat', cpuStat)?.usage_usec ?? 0n,
    fullAvg10: readControl(tree, path, 'memory.pressure', parsePressure)?.full?.avg10,
  }
}

/** Nothing for a cgroup that came or went between the looks. */
function readPodCgroup(tree: CgroupTree, path: string, before: Activity | undefined): PodCgroup[] {
  const after = readActivity(tree, path)
  if (before === undefined || after === undefined) return []
  const parent = parentPath(path)
  const isPopulated = /^populated 1$/m.test(readControlText(tree, path, 'cgroup.events') ?? '')
  return [
    {
      path,
      parent: parent === '/' ? undefined : parent,
      containerId: containerIdOf(path.slice(path.lastIndexOf('/') + 1)),
      min: protection(tree, path, 'memory.min'),
      low: protection(tree, path, 'memory.low'),
      high: readCountOrMax(tree, path, 'memory.high') ?? 'max',
      max: readCountOrMax(tree, path, 'memory.max') ?? 'max',
      populated: isPopulated,
      before,
      after,
    },
  ]
}
