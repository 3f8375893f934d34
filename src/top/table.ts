// The table as text: titles and rows, each exactly as wide as the screen.
import { type Column, chooseColumns } from './columns.js'
import type { TopRow } from './row-values.js'
import type { TopState } from './state.js'
import type { Style } from './style.js'
import { clip, pad, plain } from './text.js'

interface TableShape {
  readonly shown: readonly Column[]
  readonly name: number
}

export const tableShape = (width: number): TableShape => chooseColumns(width)

export function formatTitles({ shown, name }: TableShape, { sort, ascending }: TopState): string {
  const mark = ascending ? '▲' : '▼'
  const title = (id: string, text: string): string => (id === sort ? `${mark}${text}` : text)
  return [
    pad(title('name', 'POD'), name),
    ...shown.map((c) => pad(title(c.id, c.title), c.width, 'right')),
  ].join(' ')
}

const nameOf = ({ pod, container, branch }: TopRow, layout: TopState['layout']): string => {
  if (container === undefined) return plain(`${pod.namespace}/${pod.name}`)
  return layout === 'tree'
    ? `  ${branch}${plain(container.name)}`
    : plain(`${pod.namespace}/${pod.name}/${container.name}`)
}

/** The end of a name distinguishes pods of one workload: it is cut in the middle. */
function clipMiddle(text: string, width: number): string {
  if (text.length <= width || width < 12) return clip(text, width)
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`
}

export function formatRow(row: TopRow, shape: TableShape, state: TopState, style: Style): string {
  const { next } = row.container ?? row.pod
  const colour = next.level === 'act' ? style.red : next.level === 'watch' ? style.yellow : (s: string) => s
  const cell = (column: Column): string => {
    const value = column.value(row)
    const text = pad(value === undefined ? '-' : column.format(value, row), column.width, 'right')
    return column.id === 'high' || column.id === 'throttle' || column.id === 'max' ? colour(text) : text
  }
  return [pad(clipMiddle(nameOf(row, state.layout), shape.name), shape.name), ...shape.shown.map(cell)].join(
    ' ',
  )
}
