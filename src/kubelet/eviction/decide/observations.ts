// The signals as they are now, each with the time at which it was read.
import type { FsUsage } from '../../../stats/filesystem/filesystem.js'
import type { PressureSample } from '../../../stats/pressure.js'
import type { MemoryUsage } from '../../../stats/usage.js'
import type { Signal } from './signals.js'

export interface Observation {
  readonly available: bigint
  readonly capacity: bigint
  readonly timeNanos: bigint
}

export type Observations = ReadonlyMap<Signal, Observation>

export function observe({
  memory,
  rlimit,
  nodeFs,
  imageFs,
  containerFs,
}: Pick<PressureSample, 'memory' | 'rlimit' | 'nodeFs' | 'imageFs' | 'containerFs'>): Observations {
  const found: (readonly [Signal, Observation | undefined])[] = [
    ['memory.available', ofMemory(memory.node)],
    ['allocatableMemory.available', ofMemory(memory.pods)],
    ['nodefs.available', ofBytes(nodeFs)],
    ['nodefs.inodesFree', ofInodes(nodeFs)],
    ['imagefs.available', ofBytes(imageFs)],
    ['imagefs.inodesFree', ofInodes(imageFs)],
    ['containerfs.available', ofBytes(containerFs)],
    ['containerfs.inodesFree', ofInodes(containerFs)],
    [
      'pid.available',
      rlimit?.processes === undefined
        ? undefined
        : {
            available: rlimit.maxPid - rlimit.processes,
            capacity: rlimit.maxPid,
            timeNanos: rlimit.timeNanos,
          },
    ],
  ]
  return new Map(found.flatMap(([signal, seen]) => (seen === undefined ? [] : [[signal, seen] as const])))
}

export const ofMemory = (memory: MemoryUsage | undefined): Observation | undefined =>
  memory?.availableBytes === undefined || memory.workingSetBytes === undefined
    ? undefined
    : {
        available: memory.availableBytes,
        capacity: memory.availableBytes + memory.workingSetBytes,
        timeNanos: memory.timeNanos,
      }

const ofBytes = (fs: FsUsage | undefined): Observation | undefined =>
  fs?.availableBytes === undefined || fs.capacityBytes === undefined
    ? undefined
    : { available: fs.availableBytes, capacity: fs.capacityBytes, timeNanos: fs.timeNanos }

/** File systems that count no inodes report 0 of them; that is no shortage. */
const ofInodes = (fs: FsUsage | undefined): Observation | undefined =>
  fs?.inodesFree === undefined || fs.inodes === undefined || fs.inodes === 0n
    ? undefined
    : { available: fs.inodesFree, capacity: fs.inodes, timeNanos: fs.timeNanos }
