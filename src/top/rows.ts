// From a snapshot to the rows of the table: filtered, sorted, flat or as a tree.
import type { LivePod, LiveSnapshot } from '../core/dashboard/model.js'
import { columns } from './columns.js'
import { rowId, type TopRow } from './row-values.js'
import type { TopState } from './state.js'

const compareNames = (a: TopRow, b: TopRow): number => {
  const key = ({ pod, container }: TopRow): string => `${pod.namespace}/${pod.name}/${container?.name ?? ''}`
  const [x, y] = [key(a), key(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

/** What is unknown comes last, whichever way. Equal rows keep the order of their names, so that nothing jumps. */
function sorted(rows: readonly TopRow[], { sort, ascending }: TopState): TopRow[] {
  const column = columns.find((c) => c.id === sort)
  if (column === undefined)
    return rows.toSorted((a, b) => (ascending ? compareNames(a, b) : compareNames(b, a)))
  const keyed = rows.map((row) => ({ row, value: column.value(row) }))
  keyed.sort((a, b) => {
    if (a.value === undefined || b.value === undefined)
      return a.value === b.value ? compareNames(a.row, b.row) : a.value === undefined ? 1 : -1
    return (ascending ? a.value - b.value : b.value - a.value) || compareNames(a.row, b.row)
  })
  return keyed.map((k) => k.row)
}

const podRow = (pod: LivePod): TopRow => ({ pod, container: undefined, branch: '' })
const containerRows = (pod: LivePod): TopRow[] =>
  pod.containers.map((container) => ({ pod, container, branch: '' }))

/** Every word must be in `namespace/pod container container`. */
function matches(pod: LivePod, words: readonly string[]): boolean {
  const text = `${pod.namespace}/${pod.name} ${pod.containers.map((c) => c.name).join(' ')}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

const withBranches = (rows: readonly TopRow[]): TopRow[] =>
  rows.map((row, i) => ({ ...row, branch: i === rows.length - 1 ? '└ ' : '├ ' }))

export function topRows(snapshot: LiveSnapshot, state: TopState): readonly TopRow[] {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean)
  const pods = words.length === 0 ? snapshot.pods : snapshot.pods.filter((p) => matches(p, words))
  if (state.layout === 'containers') return sorted(pods.flatMap(containerRows), state)
  const rows = sorted(pods.map(podRow), state)
  if (state.layout === 'pods') return rows
  return rows.flatMap((row) => [row, ...withBranches(sorted(containerRows(row.pod), state))])
}

export const selectedIndex = (rows: readonly TopRow[], { selected }: TopState): number =>
  Math.max(
    0,
    rows.findIndex((row) => rowId(row) === selected),
  )
