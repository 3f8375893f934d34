// What ? shows.
import { columns } from './columns.js'
import { pad } from './text.js'

const keys: readonly (readonly [string, string])[] = [
  ['up down j k', 'select a row; also PgUp PgDn Home End'],
  ['s S', 'sort by the next or previous column'],
  ['c m n', 'sort by CPU, memory or name'],
  ['r', 'reverse the order'],
  ['t', 'switch view: pods, tree, containers'],
  ['/', 'filter by words; Enter applies it, Esc clears it'],
  ['l', 'log of the container; choose one if the pod has several'],
  ['e Enter', 'explain the pod: limits and thresholds, effective values, what happens next'],
  ['Esc q', 'back; q in the table quits'],
]

export const helpLines = (): string[] => [
  'Keys',
  ...keys.map(([key, says]) => `  ${pad(key, 14)}${says}`),
  '',
  'Columns',
  ...columns.map((c) => `  ${pad(c.title, 14)}${c.says}`),
  '',
  '- means unknown: no limit is set, or the kernel and the runtime do not report it.',
  'Red: throttled or at a limit. Yellow: at 90 % of it.',
]
