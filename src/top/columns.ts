// The columns of the table: what they show, how wide they are, and which of them stay on a narrow screen.
import { humanBytes } from '../core/units/human-bytes.js'
import type { ValuePart } from '../serve/dashboard/raw-values.js'
import type { TopRow } from './row-values.js'
import * as f from './row-values.js'

export interface Column {
  readonly id: string
  readonly title: string
  readonly width: number
  /** Smallest goes last off a narrow screen. */
  readonly rank: number
  /** What has to be read for it. */
  readonly part: ValuePart
  readonly value: (row: TopRow) => number | undefined
  readonly format: (value: number, row: TopRow) => string
  readonly says: string
}

const percent = (value: number): string => (value >= 999.5 ? '>999' : value.toFixed(value < 9.95 ? 1 : 0))
const rate = (value: number): string =>
  value === 0 ? '0' : value < 9.95 ? value.toFixed(1) : Math.round(value).toString()
const cores = (milli: number): string =>
  milli === 0
    ? '0m'
    : milli < 9_999.5
      ? `${milli < 9.95 ? milli.toFixed(1) : Math.round(milli)}m`
      : (milli / 1000).toFixed(1)

export const columns: readonly Column[] = [
  {
    id: 'cpu',
    part: 'cpu',
    title: 'CPU',
    width: 6,
    rank: 3,
    value: f.cpuMilli,
    format: cores,
    says: 'CPU in millicores',
  },
  {
    id: 'cpu%req',
    part: 'cpu',
    title: 'C%REQ',
    width: 6,
    rank: 9,
    value: f.cpuOfRequest,
    format: percent,
    says: 'CPU in percent of the request',
  },
  {
    id: 'mem',
    part: 'memory',
    title: 'MEM',
    width: 7,
    rank: 1,
    value: f.workingSet,
    format: humanBytes,
    says: 'working set: memory that is not reclaimed first',
  },
  {
    id: 'mem%req',
    part: 'memory',
    title: 'M%REQ',
    width: 7,
    rank: 5,
    value: f.memoryOfRequest,
    format: (value, row) => `${f.isEstimate(row) ? '~' : ''}${percent(value)}`,
    says: 'working set in percent of the request; ~ is an estimate from oom_score_adj',
  },
  {
    id: 'high',
    part: 'memory',
    title: '%HIGH',
    width: 6,
    rank: 2,
    value: f.usageOfHigh,
    format: percent,
    says: 'usage in percent of memory.high, where throttling begins',
  },
  {
    id: 'max',
    part: 'memory',
    title: '%MAX',
    width: 6,
    rank: 8,
    value: f.usageOfMax,
    format: percent,
    says: 'usage in percent of the limit',
  },
  {
    id: 'throttle',
    part: 'memory',
    title: 'THR/s',
    width: 6,
    rank: 4,
    value: f.throttles,
    format: rate,
    says: 'memory.high events per second',
  },
  {
    id: 'cputhr',
    part: 'cpu',
    title: 'CTHR%',
    width: 6,
    rank: 7,
    value: f.cpuThrottled,
    format: percent,
    says: 'percent of CFS periods throttled by the CPU limit',
  },
  {
    id: 'psi',
    part: 'pressure',
    title: 'PSIm',
    width: 5,
    rank: 6,
    value: f.pressure('memory'),
    format: rate,
    says: 'memory pressure (PSI some): percent of the last 10 s',
  },
  {
    id: 'psicpu',
    part: 'pressure',
    title: 'PSIc',
    width: 5,
    rank: 14,
    value: f.pressure('cpu'),
    format: rate,
    says: 'CPU pressure, the same',
  },
  {
    id: 'psiio',
    part: 'pressure',
    title: 'PSIi',
    width: 5,
    rank: 15,
    value: f.pressure('io'),
    format: rate,
    says: 'I/O pressure, the same',
  },
  {
    id: 'rx',
    part: 'cpu',
    title: 'RX/s',
    width: 7,
    rank: 10,
    value: f.received,
    format: humanBytes,
    says: 'bytes received per second',
  },
  {
    id: 'tx',
    part: 'cpu',
    title: 'TX/s',
    width: 7,
    rank: 11,
    value: f.sent,
    format: humanBytes,
    says: 'bytes sent per second',
  },
  {
    id: 'read',
    part: 'io',
    title: 'READ/s',
    width: 7,
    rank: 12,
    value: f.reads,
    format: humanBytes,
    says: 'bytes read from disks per second',
  },
  {
    id: 'write',
    part: 'io',
    title: 'WRITE/s',
    width: 8,
    rank: 13,
    value: f.writes,
    format: humanBytes,
    says: 'bytes written to disks per second',
  },
]

/** Besides the columns: by the pod's own name. */
export const sortKeys = ['name', ...columns.map((c) => c.id)] as const

/** Names need this much before a further column is worth it. */
const nameWidth = { least: 16, good: 30 }

/** The columns that fit, in the table's order, and what is left for the name. */
export function chooseColumns(width: number): { readonly shown: readonly Column[]; readonly name: number } {
  const shown = new Set<Column>()
  let left = width
  for (const column of columns.toSorted((a, b) => a.rank - b.rank)) {
    const wanted = column.rank <= 2 ? nameWidth.least : nameWidth.good
    if (left - column.width - 1 < wanted) break
    shown.add(column)
    left -= column.width + 1
  }
  return { shown: columns.filter((c) => shown.has(c)), name: Math.max(1, left) }
}
