// Reads Prometheus text as strictly as a test needs: every line must be understood, families must not come twice, and no
// series may.

export interface ReadSeries {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
  readonly timestamp: string | undefined
}

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (\d+))?$/
const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== ''; ) {
    const match = label.exec(rest)
    if (match?.[1] === undefined || match[2] === undefined) throw new Error(`labels are malformed at ${rest}`)
    if (match[1] in labels) throw new Error(`label ${match[1]} comes twice`)
    labels[match[1]] = match[2]
    rest = rest.slice(match[0].length)
  }
  return labels
}

export function readExposition(text: string): ReadSeries[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no newline')
  const series: ReadSeries[] = []
  const declared = new Set<string>()
  const seen = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name] = /^# (HELP|TYPE) (\S+) .+$/.exec(line) ?? []
    if (kind !== undefined && name !== undefined) {
      if (declared.has(`${kind} ${name}`)) throw new Error(`${kind} of ${name} comes twice`)
      declared.add(`${kind} ${name}`)
      current = name
      continue
    }
    const [, family, labelText, value, timestamp] = sample.exec(line) ?? []
    if (family === undefined || value === undefined) throw new Error(`not understood: ${line}`)
    if (family !== current) throw new Error(`${family} stands below ${current}`)
    if (!Number.isFinite(Number(value))) throw new Error(`no number: ${line}`)
    const key = `${family}{${labelText ?? ''}}`
    if (seen.has(key)) throw new Error(`two series ${key}`)
    seen.add(key)
    series.push({ name: family, labels: readLabels(labelText ?? ''), value, timestamp })
  }
  return series
}
