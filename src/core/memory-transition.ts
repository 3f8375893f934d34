// From the memory files as they are to the files as they should be: the fewest writes, in an order in which no
// child is ever protected or allowed more than its ancestors cover.
import { isMemoryFile, type MemoryFile } from './unified.js'

export type MemoryFiles = Readonly<Partial<Record<MemoryFile, string>>>

export interface CgroupMemory {
  /** Whatever the caller finds the cgroup by. */
  readonly id: string
  /** 0 for kubepods, one more for each level below. */
  readonly depth: number
  /** File contents; a file that is missing here does not exist and is not written. */
  readonly observed: MemoryFiles
  /** A file that is missing here is not ours to write. */
  readonly desired: MemoryFiles
}

export interface MemoryWrite {
  readonly id: string
  readonly file: MemoryFile
  readonly value: string
}

interface Change extends MemoryWrite {
  readonly depth: number
  readonly grows: boolean
}

const maxInt64 = 2n ** 63n - 1n

/** What the kernel shows for a written value: whole pages, and `max` from about 2^63. */
export function readBack(text: string, pageSize: bigint): bigint | 'max' {
  const trimmed = text.trim()
  if (trimmed === 'max') return 'max'
  if (!/^[0-9]+$/.test(trimmed)) throw new Error(`memory file content ${JSON.stringify(text.slice(0, 40))}`)
  const pages = BigInt(trimmed) / pageSize
  return pages >= maxInt64 / pageSize ? 'max' : pages * pageSize
}

/** Growth first, ancestors before children, so that it is covered; then shrinking, children first. */
export function planMemoryWrites(cgroups: readonly CgroupMemory[], pageSize: bigint): readonly MemoryWrite[] {
  const changes = cgroups.flatMap((cgroup) => changesOf(cgroup, pageSize))
  const growing = changes.filter((change) => change.grows).sort((a, b) => a.depth - b.depth)
  const shrinking = changes.filter((change) => !change.grows).sort((a, b) => b.depth - a.depth)
  return [...growing, ...shrinking].map(({ id, file, value }) => ({ id, file, value }))
}

function changesOf(cgroup: CgroupMemory, pageSize: bigint): readonly Change[] {
  return Object.entries(cgroup.desired).flatMap(([file, value]) => {
    const before = isMemoryFile(file) ? cgroup.observed[file] : undefined
    if (!isMemoryFile(file) || before === undefined) return []
    const is = readBack(before, pageSize)
    const becomes = readBack(value, pageSize)
    if (is === becomes) return []
    const grows = becomes === 'max' || (is !== 'max' && becomes > is)
    return [{ id: cgroup.id, depth: cgroup.depth, file, value, grows }]
  })
}
