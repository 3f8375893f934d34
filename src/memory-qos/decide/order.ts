// The order in which writes of one pass go out: ancestors first where values grow, then containers, which are leaves and
// take all their files in one call, then whatever shrinks, children first. No child is ever promised more than its
// ancestors cover.
import type { QosFile, TargetLevel } from '../../core/memory-qos/targets.js'

export interface PendingWrite {
  readonly id: string
  readonly level: TargetLevel
  readonly depth: number
  readonly file: QosFile
  readonly value: string
  readonly grows: boolean
}

/** One order: some files of one cgroup, or all pending files of one container. */
export interface WriteStep {
  readonly id: string
  readonly level: TargetLevel
  readonly values: Readonly<Record<string, string>>
}

export function orderWrites(writes: readonly PendingWrite[]): readonly WriteStep[] {
  const inTree = writes.filter((w) => w.level !== 'container')
  const containers = writes.filter((w) => w.level === 'container')
  const growing = inTree.filter((w) => w.grows).sort((a, b) => a.depth - b.depth)
  const shrinking = inTree.filter((w) => !w.grows).sort((a, b) => b.depth - a.depth)
  return [...group(growing), ...group(containers), ...group(shrinking)]
}

function group(writes: readonly PendingWrite[]): readonly WriteStep[] {
  const steps = new Map<string, { id: string; level: TargetLevel; values: Record<string, string> }>()
  for (const { id, level, file, value } of writes) {
    const step = steps.get(id) ?? { id, level, values: {} }
    step.values[file] = value
    steps.set(id, step)
  }
  return [...steps.values()]
}
