// What the pressure demo prints: a line for each look at the kernel, the second phase beside the first, and the table at the end.
export interface PressureSample {
  /** Since the neighbours run. */
  readonly second: number
  readonly cacheShare: number
  readonly hogThrottled: number
  readonly hogKills: number
  readonly noiseKills: number
}

export interface PhaseResult {
  readonly samples: readonly PressureSample[]
  /** As the kernel held them under pressure. */
  readonly cacheMin: string
  readonly hogHigh: string
}

const columns = ['cache kept', 'hog throttled', 'hog killed', 'noise killed'] as const
const percent = (share: number): string => `${Math.round(Math.min(1, share) * 100)} %`

const cells = (s: PressureSample): string[] => [
  percent(s.cacheShare),
  String(s.hogThrottled),
  String(s.hogKills),
  String(s.noiseKills),
]

const row = (texts: readonly string[]): string =>
  texts.map((text, i) => text.padStart(columns[i]?.length ?? 0)).join('  ')
const halfWidth = row(columns).length
const timeWidth = 8

export const formatHeader = (both: boolean): string =>
  both
    ? `${' '.repeat(timeWidth)}  ${'off, at the same time'.padEnd(halfWidth)}  |  on, now\n${' '.repeat(timeWidth)}  ${row(columns)}  |  ${row(columns)}\n`
    : `${' '.repeat(timeWidth)}  off, now\n${' '.repeat(timeWidth)}  ${row(columns)}\n`

export function formatSample(now: PressureSample, before: PressureSample | undefined): string {
  const left = before === undefined ? '' : `${row(cells(before))}  |  `
  return `${`${now.second.toFixed(0)} s`.padStart(timeWidth)}  ${left}${row(cells(now))}\n`
}

/** At the end, when the node was full. */
const last = (phase: PhaseResult): PressureSample =>
  phase.samples.at(-1) ?? { second: 0, cacheShare: 0, hogThrottled: 0, hogKills: 0, noiseKills: 0 }

export function formatComparison(off: PhaseResult, on: PhaseResult): string {
  const [a, b] = [last(off), last(on)]
  const rows: readonly (readonly [string, string, string])[] = [
    ['under memory pressure', 'Memory QoS off', 'on'],
    ['cache: memory.min', off.cacheMin, on.cacheMin],
    ['cache: page cache kept', percent(a.cacheShare), percent(b.cacheShare)],
    ['hog: memory.high', off.hogHigh, on.hogHigh],
    ['hog: times throttled', String(a.hogThrottled), String(b.hogThrottled)],
    ['hog: OOM kills', String(a.hogKills), String(b.hogKills)],
    ['noise: OOM kills', String(a.noiseKills), String(b.noiseKills)],
  ]
  const widths = [0, 1, 2].map((i) => Math.max(...rows.map((r) => r[i]?.length ?? 0)))
  return rows
    .map(([what, x, y]) =>
      `${what.padEnd(widths[0] ?? 0)}  ${x.padStart(widths[1] ?? 0)}  ${y.padStart(widths[2] ?? 0)}`.trimEnd(),
    )
    .join('\n')
}
