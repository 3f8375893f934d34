// Processes and threads of a cgroup, and what a container's processes hold open. Both versions have the same files.
import { parsePids } from '../../core/kernel-text/words.js'
import { type Emit, type ExtraLabels, extraLabels } from '../catalogue/family.js'
import { processFamilies as f } from '../catalogue/process.js'
import { limitOrZero, readCount, readLimit } from './amounts.js'
import type { CollectContext, Collector } from './collector.js'

interface OpenValues {
  readonly descriptors: bigint
  readonly sockets: bigint
}

/** Upstream's name of a scheduler state -> threads in it. */
type TaskStateValues = ReadonlyMap<string, bigint>

interface ProcessValues {
  readonly pids: readonly number[]
  readonly threads: bigint | undefined
  readonly threadsMax: bigint | undefined
  readonly open: OpenValues | undefined
  /** Soft limit of the first process. Undefined: unlimited, or not known. */
  readonly maxOpenFiles: bigint | undefined
  readonly taskStates: TaskStateValues | undefined
}

function readOpen(pids: readonly number[], { procfs }: CollectContext): OpenValues | undefined {
  let descriptors = 0
  let sockets = 0
  let seen = 0
  for (const pid of pids) {
    const files = procfs.openFiles(pid)
    if (files === undefined) continue
    seen++
    descriptors += files.descriptors
    sockets += files.sockets
  }
  return seen === 0 ? undefined : { descriptors: BigInt(descriptors), sockets: BigInt(sockets) }
}

function readMaxOpenFiles(pid: number | undefined, { procfs }: CollectContext): bigint | undefined {
  const soft = pid === undefined ? undefined : procfs.maxOpenFiles(pid)
  return soft === 'unlimited' ? undefined : soft
}

/** Upstream's names for the kernel's letters. `iowaiting` needs the taskstats netlink socket and is left out. */
const stateWords: readonly (readonly [word: string, letters: string])[] = [
  ['sleeping', 'S'],
  ['running', 'R'],
  ['stopped', 'Tt'],
  ['uninterruptible', 'D'],
]
const stateLabels = new Map<string, ExtraLabels>(
  stateWords.map(([word]) => [word, extraLabels({ state: word })]),
)

/** Behind a switch: it costs one read for every thread. */
function readTaskStates(
  pids: readonly number[],
  { taskStates }: CollectContext,
): TaskStateValues | undefined {
  if (taskStates === undefined) return undefined
  const seen = pids.map((pid) => taskStates(pid)).filter((states) => states !== undefined)
  if (seen.length === 0) return undefined
  const count = (letters: string): number =>
    seen.reduce((n, states) => n + [...letters].reduce((m, l) => m + (states.get(l) ?? 0), 0), 0)
  return new Map(stateWords.map(([word, letters]) => [word, BigInt(count(letters))]))
}

const openFilesLimit = extraLabels({ ulimit: 'max_open_files' })

function emitProcesses(p: ProcessValues, emit: Emit): void {
  emit(f.container_processes, BigInt(p.pids.length))
  if (p.threads !== undefined) emit(f.container_threads, p.threads)
  if (p.threadsMax !== undefined) emit(f.container_threads_max, p.threadsMax)
  if (p.open !== undefined) {
    emit(f.container_file_descriptors, p.open.descriptors)
    emit(f.container_sockets, p.open.sockets)
  }
  if (p.maxOpenFiles !== undefined) emit(f.container_ulimits_soft, p.maxOpenFiles, openFilesLimit)
  for (const [word, count] of p.taskStates ?? []) emit(f.container_tasks_state, count, stateLabels.get(word))
}

export const processes: Collector<ProcessValues> = {
  read(path, scope, context) {
    const text = context.cgroups.read(path, 'cgroup.procs')
    if (text === undefined) return undefined
    const pids = parsePids(text)
    const isContainer = scope === 'container'
    return {
      pids,
      threads: readCount(context, path, 'pids.current'),
      threadsMax: limitOrZero(readLimit(context, path, 'pids.max')),
      open: isContainer ? readOpen(pids, context) : undefined,
      maxOpenFiles: isContainer ? readMaxOpenFiles(pids[0], context) : undefined,
      taskStates: isContainer ? readTaskStates(pids, context) : undefined,
    }
  },
  emit: emitProcesses,
}
