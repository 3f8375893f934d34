// The count of series for people and for programs.

import { formatColumns } from '../../core/pod/printing.js'
import { counted } from '../../core/units/counted.js'
import { formatAmount } from '../format.js'
import { bytesPerSeries, type Projection, rowKinds, type SeriesCount } from './series.js'

const headings = rowKinds.map((kind) => kind.toUpperCase())

export function formatSeries(count: SeriesCount, projections: readonly Projection[]): string {
  const table = formatColumns([
    ['FAMILY', ...headings, 'TOTAL', 'SHOWN'],
    ...count.families.map((f) => [
      f.name,
      ...rowKinds.map((kind) => String(f.rows[kind])),
      String(f.total),
      f.shown === f.total ? 'yes' : f.shown === 0 ? 'no' : String(f.shown),
    ]),
    ['all', ...rowKinds.map((kind) => String(count.rows[kind].total)), String(count.total), ''],
    ['shown', ...rowKinds.map((kind) => String(count.rows[kind].shown)), String(count.shown), ''],
  ])
  const costs = projections.map(
    (p) =>
      `${counted(p.pods, 'pod')} on ${p.nodes === 1 ? 'one node' : `each of ${p.nodes} nodes`}: ${p.series} series, about ${formatAmount(BigInt(p.prometheusBytes))}B of memory in Prometheus`,
  )
  return [
    table,
    `${counted(count.pods, 'pod')} with ${counted(count.containers, 'container')} on this node. ${formatAmount(BigInt(bytesPerSeries))}B for each series is assumed.`,
    ...costs,
    'Switch families and rows off in KeelsonConfiguration: metrics.disable, metrics.rows (docs/metrics.md).',
    '',
  ].join('\n')
}

export const seriesValue = (count: SeriesCount, projections: readonly Projection[]): object => ({
  ...count,
  bytesPerSeries,
  projections,
})
