// One line of a container's log file as runtimes write it: `TIME stdout|stderr F|P text`. Pure.
import { parseTime } from '../../core/units/rfc3339.js'

export interface LogLine {
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** With its newline, unless the runtime cut a long line here. */
  readonly text: string
}

/** Undefined: not such a line, as the cut-off end of a file that is being written. */
export function parseCriLine(line: string): LogLine | undefined {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  if (first < 0 || second < 0) return undefined
  const third = line.indexOf(' ', second + 1)
  const tags = third < 0 ? line.slice(second + 1) : line.slice(second + 1, third)
  const stream = line.slice(first + 1, second)
  if (stream !== 'stdout' && stream !== 'stderr') return undefined
  if (!/^[FP](:|$)/.test(tags)) return undefined
  const text = third < 0 ? '' : line.slice(third + 1)
  return { time: line.slice(0, first), stream, text: tags.startsWith('P') ? text : `${text}\n` }
}

export const lineTimeNanos = (line: LogLine): bigint | undefined => parseTime(line.time)
