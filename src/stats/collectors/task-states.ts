// Threads by scheduler state. Behind a switch: it costs one read for every thread. `iowaiting` needs the taskstats
// netlink socket and is left out.
import type { Procfs } from '../../ports/procfs.js'
import { type Emit, type ExtraLabels, extraLabels } from '../catalogue/family.js'
import { processFamilies } from '../catalogue/process.js'

export type TaskStateValues = ReadonlyMap<string, bigint>

/** Upstream's words for the kernel's letters. */
const words: readonly (readonly [word: string, letters: string])[] = [
  ['sleeping', 'S'],
  ['running', 'R'],
  ['stopped', 'Tt'],
  ['uninterruptible', 'D'],
]
const labels = new Map<string, ExtraLabels>(words.map(([word]) => [word, extraLabels({ state: word })]))

export function readTaskStates(
  pids: readonly number[],
  procfs: Pick<Procfs, 'taskStates'>,
): TaskStateValues | undefined {
  const seen = pids.map((pid) => procfs.taskStates(pid)).filter((states) => states !== undefined)
  if (seen.length === 0) return undefined
  const count = (letters: string): number =>
    seen.reduce((n, states) => n + [...letters].reduce((m, l) => m + (states.get(l) ?? 0), 0), 0)
  return new Map(words.map(([word, letters]) => [word, BigInt(count(letters))]))
}

export function emitTaskStates(values: TaskStateValues, emit: Emit): void {
  for (const [word, count] of values) emit(processFamilies.container_tasks_state, count, labels.get(word))
}
