// Lines of a container's log file as CRI defines it: `2026-01-02T03:04:05.678Z stdout F text`.

export interface CriLogLine {
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** One line of the file, which may be a part of what the container wrote. */
export interface CriLogPart extends CriLogLine {
  /** Tag P: the runtime cut a long line here. */
  readonly isPartial: boolean
}

/** Undefined: no log line, as the cut end of a file that is being written. */
export function parseCriLine(line: string): CriLogPart | undefined {
  const first = line.indexOf(' ')
  const second = line.indexOf(' ', first + 1)
  if (first < 0 || second < 0) return undefined
  const third = line.indexOf(' ', second + 1)
  const tags = third < 0 ? line.slice(second + 1) : line.slice(second + 1, third)
  const stream = line.slice(first + 1, second)
  if (stream !== 'stdout' && stream !== 'stderr') return undefined
  if (!/^[FP](:|$)/.test(tags)) return undefined
  const text = third < 0 ? '' : line.slice(third + 1)
  return { time: line.slice(0, first), stream, text, isPartial: tags.startsWith('P') }
}

/** As the container wrote it: with its newline, unless the line goes on. */
export const writtenText = ({ text, isPartial }: CriLogPart): string => (isPartial ? text : `${text}\n`)

/** Parts of one line are put together. Lines that are no log lines, as a cut first one, are dropped. */
export function parseCriLog(text: string): CriLogLine[] {
  const lines: CriLogLine[] = []
  const parts = new Map<string, string>()
  for (const raw of text.split('\n')) {
    const part = parseCriLine(raw)
    if (part === undefined) continue
    const { time, stream } = part
    const whole = (parts.get(stream) ?? '') + part.text
    if (part.isPartial) parts.set(stream, whole)
    else {
      parts.delete(stream)
      lines.push({ time, stream, text: whole })
    }
  }
  return lines
}
