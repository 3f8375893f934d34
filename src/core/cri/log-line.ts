// Lines of a container's log file as CRI defines it: `2026-01-02T03:04:05.678Z stdout F text`.

export interface CriLogLine {
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

const pattern = /^(\S+) (stdout|stderr) ([FP])(?::\S*)? ?(.*)$/s

/** Parts of one line (tag P) are put together. Lines that are no log lines, as a cut first one, are dropped. */
export function parseCriLog(text: string): CriLogLine[] {
  const lines: CriLogLine[] = []
  const parts = new Map<string, string>()
  for (const raw of text.split('\n')) {
    const [, time, stream, tag, content = ''] = pattern.exec(raw) ?? []
    if (time === undefined || (stream !== 'stdout' && stream !== 'stderr')) continue
    const whole = (parts.get(stream) ?? '') + content
    if (tag === 'P') {
      parts.set(stream, whole)
      continue
    }
    parts.delete(stream)
    lines.push({ time, stream, text: whole })
  }
  return lines
}
