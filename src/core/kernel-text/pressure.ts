// Pressure stall information (kernel 4.20; cgroup files since 5.2; `full` of cpu since 5.13).
import { decodeText, splitLines } from './words.js'

export interface PressureLine {
  /** Percent of time, as printed with two decimals. */
  readonly avg10: number
  readonly avg60: number
  readonly avg300: number
  readonly totalMicros: bigint
}

export interface Pressure {
  readonly some: PressureLine
  readonly full?: PressureLine
}

const pattern = /^(some|full) avg10=(\d+\.\d+) avg60=(\d+\.\d+) avg300=(\d+\.\d+) total=(\d+)$/

/** Undefined: not PSI text. */
export function parsePressure(text: Uint8Array): Pressure | undefined {
  const lines = new Map<string, PressureLine>()
  for (const line of splitLines(decodeText(text))) {
    const [, kind, avg10, avg60, avg300, total] = pattern.exec(line) ?? []
    if (kind === undefined || total === undefined) continue
    lines.set(kind, {
      avg10: Number(avg10),
      avg60: Number(avg60),
      avg300: Number(avg300),
      totalMicros: BigInt(total),
    })
  }
  const some = lines.get('some')
  const full = lines.get('full')
  return some === undefined ? undefined : { some, ...(full === undefined ? {} : { full }) }
}
