// The pods of the node with the values that the kernel holds for them.

export interface PodRow {
  readonly pod: string
  readonly qosClass: string
  readonly phase: string
  readonly min: string
  readonly high: string
  readonly current: string
}

const titles: PodRow = {
  pod: 'POD',
  qosClass: 'CLASS',
  phase: 'PHASE',
  min: 'memory.min',
  high: 'memory.high',
  current: 'memory.current',
}

export function formatPods(rows: readonly PodRow[]): string {
  const all = [titles, ...rows]
  const columns = Object.keys(titles) as (keyof PodRow)[]
  const widths = columns.map((c) => Math.max(...all.map((r) => r[c].length)))
  const line = (row: PodRow): string => columns.map((c, i) => row[c].padEnd(widths[i] ?? 0)).join('  ')
  return all.map((row) => line(row).trimEnd()).join('\n')
}
