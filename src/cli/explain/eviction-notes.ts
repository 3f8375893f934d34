// What `keelson explain` notes about Memory QoS and eviction on the given node together.
import { evictionConflicts } from '../../core/memory-qos/eviction-conflicts.js'
import { parseEvictionThreshold } from '../../core/plan/allocatable.js'
import type { ExplainedCgroup, Explanation } from '../../core/plan/explain.js'
import { plannedValue } from '../../core/plan/planned-value.js'
import type { Bytes } from '../../core/units/bytes.js'

/** `threshold` is evictionHard["memory.available"]. Without the capacity nothing can be compared. */
export function evictionNotes(
  { pods, ancestors }: Explanation,
  memoryCapacity: Bytes | undefined,
  threshold: string | undefined,
): readonly string[] {
  if (memoryCapacity === undefined) return []
  const kubepods = ancestors.find(({ level }) => level === 'kubepods')
  return evictionConflicts({
    memoryCapacity,
    evictionThreshold: parseEvictionThreshold(threshold, memoryCapacity),
    protectedBytes: (kubepods && amountOf(kubepods, 'memory.min')) ?? 0n,
    highs: pods.flatMap(({ name, containers }) =>
      containers.flatMap((container) => {
        const high = amountOf(container, 'memory.high')
        return high === undefined ? [] : [{ name: `${container.title} of pod ${name}`, high }]
      }),
    ),
  }).map(({ message, remedy }) => `${message}; ${remedy}`)
}

/** Undefined: not written, or no number. */
function amountOf({ files }: ExplainedCgroup, name: string): bigint | undefined {
  const found = files.find(({ file }) => file === name)
  const value = found && plannedValue(found.outcome)
  return typeof value === 'bigint' ? value : undefined
}
