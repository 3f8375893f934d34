// cpu.max of cgroup v2: `QUOTA PERIOD` in microseconds.
import { parseDigits, parseDigitsOrMax, trimmedEnd } from './digits.js'

interface CpuMax {
  readonly quotaMicros: bigint | 'max'
  readonly periodMicros: bigint
}

const SPACE = 32

/** `max 100000\n` -> {quotaMicros: 'max', periodMicros: 100000n} */
export function parseCpuMax(text: Uint8Array): CpuMax | undefined {
  const end = trimmedEnd(text)
  const space = text.indexOf(SPACE)
  if (space < 0 || space >= end) return undefined
  const quotaMicros = parseDigitsOrMax(text, 0, space)
  const periodMicros = parseDigits(text, space + 1, end)
  return quotaMicros === undefined || periodMicros === undefined ? undefined : { quotaMicros, periodMicros }
}
