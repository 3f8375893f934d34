// /proc/PID/net/dev: counters of each interface in that process's network namespace.
import { splitLines } from './words.js'

export interface NetDev {
  readonly name: string
  readonly rxBytes: bigint
  readonly rxPackets: bigint
  readonly rxErrors: bigint
  readonly rxDropped: bigint
  readonly txBytes: bigint
  readonly txPackets: bigint
  readonly txErrors: bigint
  readonly txDropped: bigint
}

export const parseNetDev = (text: string): NetDev[] => splitLines(text).flatMap(parseLine)

function parseLine(line: string): NetDev[] {
  // The last colon: an alias such as eth0:1 has one in its name.
  const colon = line.lastIndexOf(':')
  if (colon < 0) return []
  const columns = line
    .slice(colon + 1)
    .trim()
    .split(/\s+/)
  if (columns.length < 16 || !columns.every((c) => /^\d+$/.test(c))) return []
  const at = (i: number): bigint => BigInt(columns[i] ?? 0)
  return [
    {
      name: line.slice(0, colon).trim(),
      rxBytes: at(0),
      rxPackets: at(1),
      rxErrors: at(2),
      rxDropped: at(3),
      txBytes: at(8),
      txPackets: at(9),
      txErrors: at(10),
      txDropped: at(11),
    },
  ]
}
