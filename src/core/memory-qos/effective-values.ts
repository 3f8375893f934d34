// Intended, written and effective values side by side, at every level of the tree: which ancestor caps a protection is the
// question that no single file answers.
import { parentPath } from '../cgroup/path.js'
import type { PlannedValue } from '../plan/planned-value.js'
import { effectiveProtection, type ProtectionNode } from './effective-protection.js'
import type { QosFile, TargetLevel } from './targets.js'
import { qosFiles } from './targets.js'

export interface LiveCgroup {
  readonly level: TargetLevel
  readonly title: string
  readonly path: string
  readonly pod?: { readonly namespace: string; readonly name: string }
  readonly usage: bigint | undefined
  readonly desired: Readonly<Partial<Record<QosFile, string>>>
  readonly outcomes: Readonly<Partial<Record<QosFile, PlannedValue<bigint>>>>
  readonly written: Readonly<Partial<Record<QosFile, string>>>
  readonly highEvents: bigint | undefined
  /** avg10 of `some` in memory.pressure; undefined: no PSI. */
  readonly pressure: number | undefined
}

/** Every cgroup with a memory controller that shares a parent with one of ours. */
export interface TreeCgroup {
  readonly path: string
  readonly usage: bigint
  readonly 'memory.min': bigint
  readonly 'memory.low': bigint
}

export interface LiveFile {
  readonly file: QosFile
  /** Null: not ours to write. */
  readonly intended: string | null
  readonly reason: string | null
  readonly written: string | null
  /** What the kernel keeps of it; null for memory.high, where the lowest on the way up counts. */
  readonly effective: string | null
  readonly cappedBy: string | null
}

export interface LiveRow {
  readonly level: TargetLevel
  readonly title: string
  readonly path: string
  readonly pod: string | null
  readonly usage: string | null
  readonly throttleEvents: string | null
  readonly pressureAvg10: number | null
  readonly files: readonly LiveFile[]
}

export interface LiveReport {
  readonly rows: readonly LiveRow[]
}

const protectionOf = (tree: readonly TreeCgroup[], file: 'memory.min' | 'memory.low', recursive: boolean) => {
  const known = new Set(tree.map((t) => t.path))
  const nodes = tree.map((t): ProtectionNode => {
    const parent = parentPath(t.path)
    return {
      path: t.path,
      parent: parent === undefined || !known.has(parent) ? undefined : parent,
      setting: t[file],
      usage: t.usage,
    }
  })
  return effectiveProtection(nodes, { recursive })
}

/** The lowest memory.high between a cgroup and the root is the one that throttles it. */
function highest(path: string, written: ReadonlyMap<string, string>): { value: string; at: string } {
  let best: { value: string; at: string } = { value: 'max', at: path }
  for (let at: string | undefined = path; at !== undefined && at !== '/'; at = parentPath(at)) {
    const value = written.get(at)
    if (value === undefined || value === 'max') continue
    if (best.value === 'max' || BigInt(value) < BigInt(best.value)) best = { value, at }
  }
  return best
}

export function liveReport(
  cgroups: readonly LiveCgroup[],
  tree: readonly TreeCgroup[],
  recursive: boolean,
): LiveReport {
  const effective = {
    'memory.min': protectionOf(tree, 'memory.min', recursive),
    'memory.low': protectionOf(tree, 'memory.low', recursive),
  }
  const highs = new Map(
    cgroups.flatMap((c) =>
      c.written['memory.high'] === undefined ? [] : [[c.path, c.written['memory.high']]],
    ),
  )
  const file = (c: LiveCgroup, name: QosFile): LiveFile => {
    const base = {
      file: name,
      intended: c.desired[name] ?? null,
      reason: c.outcomes[name]?.reason ?? null,
      written: c.written[name] ?? null,
    }
    if (name === 'memory.high') {
      const { value, at } = highest(c.path, highs)
      return { ...base, effective: value, cappedBy: at === c.path ? null : at }
    }
    const found = effective[name].get(c.path)
    return { ...base, effective: found?.effective.toString() ?? null, cappedBy: found?.cappedBy ?? null }
  }
  return {
    rows: cgroups.map((c) => ({
      level: c.level,
      title: c.title,
      path: c.path,
      pod: c.pod === undefined ? null : `${c.pod.namespace}/${c.pod.name}`,
      usage: c.usage?.toString() ?? null,
      throttleEvents: c.highEvents?.toString() ?? null,
      pressureAvg10: c.pressure ?? null,
      files: qosFiles.map((name) => file(c, name)),
    })),
  }
}
