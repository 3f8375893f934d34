// Reads the Prometheus text that our own endpoints print: series with their labels, and the type of each family.

type SeriesType = 'counter' | 'gauge'

export interface PrintedSeries {
  readonly name: string
  readonly type: SeriesType
  /** The label block as printed: labels are in alphabetical order, so equal blocks are equal labels. */
  readonly block: string
  readonly value: number
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)(?: \d+)?$/

export function readText(text: string): PrintedSeries[] {
  const types = new Map<string, SeriesType>()
  const series: PrintedSeries[] = []
  for (const one of text.split('\n')) {
    const [, family, type] = /^# TYPE (\S+) (\S+)$/.exec(one) ?? []
    if (family !== undefined) types.set(family, type === 'counter' ? 'counter' : 'gauge')
    const [, name, block = '', value] = one.startsWith('#') ? [] : (line.exec(one) ?? [])
    if (name === undefined) continue
    series.push({ name, type: types.get(name) ?? 'gauge', block, value: Number(value) })
  }
  return series
}

/** Value of a label as printed, escapes and all; undefined where there is none. */
export const labelOf = (block: string, label: string): string | undefined =>
  new RegExp(`[{,]${label}="((?:[^"\\\\]|\\\\.)*)"`).exec(block)?.[1]
