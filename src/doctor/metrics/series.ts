// How many series /metrics/cadvisor of this node has, by family and by kind of row, what each switch saves, and what that
// costs in Prometheus.
import { decideSwitches, type SwitchRequest } from '../../stats/render/series-writer.js'
import { labelOf, type PrintedSeries } from './read-text.js'

export const rowKinds = ['container', 'pod', 'slice', 'node', 'machine'] as const
type SeriesRow = (typeof rowKinds)[number]

interface FamilyCount {
  readonly name: string
  readonly rows: Readonly<Record<SeriesRow, number>>
  readonly total: number
  /** Series of it that the configuration shows. */
  readonly shown: number
}

export interface SeriesCount {
  /** The dearest first. */
  readonly families: readonly FamilyCount[]
  readonly rows: Readonly<Record<SeriesRow, { readonly total: number; readonly shown: number }>>
  readonly total: number
  readonly shown: number
  readonly pods: number
  readonly containers: number
}

/** Which kind of row a series belongs to, by the labels that every row has. */
export function rowKindOf(block: string): SeriesRow {
  const id = labelOf(block, 'id')
  if (id === undefined) return 'machine'
  if (labelOf(block, 'pod') !== '') return labelOf(block, 'container') === '' ? 'pod' : 'container'
  return id === '/' ? 'node' : 'slice'
}

const isShown = (
  { name }: PrintedSeries,
  row: SeriesRow,
  switches: ReturnType<typeof decideSwitches>,
): boolean => {
  if (switches.disabledFamilies.has(name)) return false
  // The network of a pod has no other row.
  if (row === 'pod') return switches.rows.pods || name.startsWith('container_network_')
  return row === 'slice' ? switches.rows.slices : row !== 'node' || switches.rows.node
}

/** `all` is an answer with everything switched on; the request says what the configuration leaves of it. */
export function countSeries(all: readonly PrintedSeries[], request: SwitchRequest): SeriesCount {
  const switches = decideSwitches(request)
  const none = (): Record<SeriesRow, number> => ({ container: 0, pod: 0, slice: 0, node: 0, machine: 0 })
  const families = new Map<string, { rows: Record<SeriesRow, number>; shown: number }>()
  const total = none()
  const shown = none()
  const podNames = new Set<string>()
  const containerNames = new Set<string>()
  for (const series of all) {
    const row = rowKindOf(series.block)
    const family = families.get(series.name) ?? { rows: none(), shown: 0 }
    families.set(series.name, family)
    family.rows[row]++
    total[row]++
    if (isShown(series, row, switches)) {
      family.shown++
      shown[row]++
    }
    const pod = `${labelOf(series.block, 'namespace')}/${labelOf(series.block, 'pod')}`
    if (row === 'pod' || row === 'container') podNames.add(pod)
    if (row === 'container') containerNames.add(`${pod}/${labelOf(series.block, 'container')}`)
  }
  const sum = (counts: Record<SeriesRow, number>): number => rowKinds.reduce((n, kind) => n + counts[kind], 0)
  return {
    families: [...families]
      .map(([name, { rows, shown: seen }]) => ({ name, rows, total: sum(rows), shown: seen }))
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1)),
    rows: Object.fromEntries(
      rowKinds.map((kind) => [kind, { total: total[kind], shown: shown[kind] }]),
    ) as SeriesCount['rows'],
    total: sum(total),
    shown: sum(shown),
    pods: podNames.size,
    containers: containerNames.size,
  }
}

export interface Projection {
  readonly pods: number
  readonly nodes: number
  readonly series: number
  readonly prometheusBytes: number
}

/**
 * Resident memory of Prometheus for each series that is being written. 60,000 series with labels like ours took 6.3 KiB
 * each in 2.42; the rest is for chunks that fill up. Series of containers that ended stay two to three hours.
 */
export const bytesPerSeries = 8 * 1024

/** What so many pods like those of this node would cost on so many nodes like this one. */
export function projectSeries({ rows, pods }: SeriesCount, wantedPods: number, nodes: number): Projection {
  const fixed = rows.slice.shown + rows.node.shown + rows.machine.shown
  const perPod = pods === 0 ? 0 : (rows.pod.shown + rows.container.shown) / pods
  const series = Math.round(nodes * (fixed + perPod * wantedPods))
  return { pods: wantedPods, nodes, series, prometheusBytes: series * bytesPerSeries }
}
