// `keelson top --once`: the table as text, for scripts and for pipes.
import type { LiveSnapshot } from '../core/dashboard/model.js'
import { formatHeader } from './header.js'
import { topRows } from './rows.js'
import type { TopState } from './state.js'
import { unstyled } from './style.js'
import { formatRow, formatTitles, tableShape } from './table.js'

export function formatOnce(snapshot: LiveSnapshot, state: TopState, width: number): string {
  const rows = topRows(snapshot, state)
  const shape = tableShape(width)
  const lines = [
    ...formatHeader(snapshot, state, rows.length, width, unstyled),
    formatTitles(shape, state),
    ...rows.map((row) => formatRow(row, shape, state, unstyled)),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}
