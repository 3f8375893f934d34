// /proc/PID/limits: resource limits of one process.
import { splitLines } from './words.js'

interface ProcessLimit {
  readonly soft: bigint | 'unlimited'
  readonly hard: bigint | 'unlimited'
  readonly units: string | undefined
}

/** `Max open files` -> its limits. */
export type ProcessLimits = ReadonlyMap<string, ProcessLimit>

const value = (text: string): bigint | 'unlimited' => (text === 'unlimited' ? text : BigInt(text))

export function parseProcessLimits(text: string): ProcessLimits {
  const limits = new Map<string, ProcessLimit>()
  for (const line of splitLines(text)) {
    const [, name, soft, hard, units] =
      /^(Max .+?)\s+(\d+|unlimited)\s+(\d+|unlimited)\s*(\S+)?\s*$/.exec(line) ?? []
    if (name !== undefined && soft !== undefined && hard !== undefined)
      limits.set(name, { soft: value(soft), hard: value(hard), units })
  }
  return limits
}
