// The `unified` map that a container runtime is sent: memory values of one container by file name. It is always
// the full set that we own, because a runtime does not clear a key that is left out.
import { type PlannedValue, plannedValue } from '../plan/planned-value.js'
import type { ContainerFiles } from '../plan/pod-plan.js'

/** What a file reads before its first write, and so what clears it. */
export const restingValues = {
  'memory.min': '0',
  'memory.low': '0',
  'memory.high': 'max',
  'memory.max': 'max',
} as const

export type MemoryFile = keyof typeof restingValues
export type MemoryFiles = Readonly<Partial<Record<MemoryFile, string>>>
export const memoryFiles: readonly MemoryFile[] = ['memory.min', 'memory.low', 'memory.high', 'memory.max']
export const isMemoryFile = (name: string): name is MemoryFile => Object.hasOwn(restingValues, name)

/** The text that a file must hold: the value, or what clears it. Undefined: nothing is known, leave it. */
export function desiredText(file: MemoryFile, outcome: PlannedValue<bigint>): string | undefined {
  // Not knowing allocatable memory yet is no reason to lift a throttle that is in place.
  if (outcome.kind === 'not-written' && outcome.code === 'allocatable-unknown') return undefined
  return plannedValue(outcome)?.toString() ?? restingValues[file]
}

/** Empty on cgroup v1, where runtimes know no such map. */
export function containerUnified(
  files: ContainerFiles,
  cgroupVersion: 1 | 2,
): Readonly<Record<string, string>> {
  if (cgroupVersion === 1) return {}
  const unified: Record<string, string> = {}
  for (const file of ['memory.min', 'memory.low', 'memory.high'] as const) {
    const outcome = files[file]
    // The pod cgroup carries the throttle then, and the container's file stays the runtime's own business.
    if (outcome.kind === 'not-written' && outcome.code === 'pod-level-limit') continue
    const text = desiredText(file, outcome)
    if (text !== undefined) unified[file] = text
  }
  for (const file of ['memory.swap.max', 'memory.oom.group'] as const) {
    const amount = plannedValue<bigint>(files[file])
    if (amount !== undefined) unified[file] = amount.toString()
  }
  return unified
}
