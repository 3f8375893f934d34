// /proc/diskstats: one line a block device; discard columns since 4.18, flush columns since 5.5.
import { splitLines } from './words.js'

export interface DiskStats {
  readonly majorMinor: string
  readonly name: string
  readonly readsCompleted: bigint
  readonly readsMerged: bigint
  readonly sectorsRead: bigint
  readonly readMillis: bigint
  readonly writesCompleted: bigint
  readonly writesMerged: bigint
  readonly sectorsWritten: bigint
  readonly writeMillis: bigint
  readonly inProgress: bigint
  readonly ioMillis: bigint
  readonly weightedIoMillis: bigint
}

export const parseDiskStats = (text: string): DiskStats[] => splitLines(text).flatMap(parseLine)

function parseLine(line: string): DiskStats[] {
  const [major, minor, name, ...columns] = line.trim().split(/\s+/)
  if (name === undefined || columns.length < 11 || !columns.every((c) => /^\d+$/.test(c))) return []
  const at = (i: number): bigint => BigInt(columns[i] ?? 0)
  return [
    {
      majorMinor: `${major}:${minor}`,
      name,
      readsCompleted: at(0),
      readsMerged: at(1),
      sectorsRead: at(2),
      readMillis: at(3),
      writesCompleted: at(4),
      writesMerged: at(5),
      sectorsWritten: at(6),
      writeMillis: at(7),
      inProgress: at(8),
      ioMillis: at(9),
      weightedIoMillis: at(10),
    },
  ]
}
