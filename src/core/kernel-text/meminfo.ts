// /proc/meminfo in bytes. Every line is kept: which fields exist depends on the kernel and its configuration.
import { splitLines } from './words.js'

/** `MemTotal` -> bytes; lines without kB (HugePages_Total) are plain counts. */
export type MemInfo = ReadonlyMap<string, bigint>

export function parseMemInfo(text: string): MemInfo {
  const fields = new Map<string, bigint>()
  for (const line of splitLines(text)) {
    const [, name, value, unit] = /^([^:]+):\s+(\d+)( kB)?$/.exec(line.trimEnd()) ?? []
    if (name !== undefined && value !== undefined)
      fields.set(name, BigInt(value) * (unit === undefined ? 1n : 1024n))
  }
  return fields
}
