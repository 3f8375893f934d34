// What ? shows.
import { columns } from './columns.js'
import { pad } from './text.js'

const keys: readonly (readonly [string, string])[] = [
  ['up down j k', 'choose a row; PgUp PgDn Home End too'],
  ['s S', 'sort by the next, the previous column'],
  ['c m n', 'sort by CPU, by memory, by name'],
  ['r', 'turn the order round'],
  ['t', 'pods, tree of pods and containers, containers'],
  ['/', 'filter by words; Enter keeps it, Esc clears it'],
  ['l', 'log of the container; on a pod with several, choose one'],
  ['e Enter', 'explain the pod: borders, what the kernel keeps of them, what happens next'],
  ['Esc q', 'back; q in the table ends'],
]

export const helpLines = (): string[] => [
  'Keys',
  ...keys.map(([key, says]) => `  ${pad(key, 14)}${says}`),
  '',
  'Columns',
  ...columns.map((c) => `  ${pad(c.title, 14)}${c.says}`),
  '',
  '- means unknown: no border is set, or neither kernel nor runtime says.',
  'Red: throttled, or at a limit. Yellow: nine tenths of the way there.',
]
