// Nested keyed files: `NAME key=value ...` a line (v2 io.stat), and v1's blkio form `MAJ:MIN Operation VALUE`.
// Both come out as one map per device, so that a collector reads them alike.
import { decodeText, splitLines } from './words.js'

export type NestedKeyed = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** `8:0 rbytes=1 wbytes=2\n` -> 8:0 -> {rbytes: 1n, wbytes: 2n}; `max` and other words are left out. */
export function parseNestedKeyed(text: Uint8Array): NestedKeyed {
  const rows = new Map<string, Map<string, bigint>>()
  if (text.length === 0) return rows
  for (const line of splitLines(decodeText(text))) {
    const words = line.split(' ')
    // Some kernels print the names of devices without values on the line of the next one: the last name counts.
    const name = words.findLast((word) => word !== '' && !word.includes('=')) ?? ''
    const row = rows.get(name) ?? new Map<string, bigint>()
    for (const word of words) {
      const [key = '', value = ''] = word.split('=')
      if (/^\d+$/.test(value)) row.set(key, BigInt(value))
    }
    if (row.size > 0) rows.set(name, row)
  }
  return rows
}

/** `8:0 Read 4096\nTotal 4096\n` -> 8:0 -> {Read: 4096n}; the grand total is left out. */
export function parseBlkio(text: Uint8Array): NestedKeyed {
  const rows = new Map<string, Map<string, bigint>>()
  if (text.length === 0) return rows
  for (const line of splitLines(decodeText(text))) {
    const words = line.split(' ')
    const [device = '', operation = '', value = ''] = words
    if (words.length !== 3 || !/^\d+$/.test(value)) continue
    const row = rows.get(device) ?? new Map<string, bigint>()
    row.set(operation, BigInt(value))
    rows.set(device, row)
  }
  return rows
}
