// The series of a look at the node, as values: the RPC and the Prometheus endpoint are two ways to write them.
import type { ExtraLabels, Family } from '../../stats/catalogue/family.js'
import type { PodValues } from '../../stats/cgroup/source.js'
import { writeSweep } from '../../stats/render/container-rows.js'
import type { Row, Rows } from '../../stats/render/row.js'
import { isShown, type Switches } from '../../stats/render/row-writer.js'
import type { NodeView } from '../stats/node-view.js'

export interface Series {
  readonly family: Family
  readonly row: Row
  readonly extra: ExtraLabels | undefined
  /** In the family's smallest unit. */
  readonly value: bigint
  readonly timeNanos: bigint
}

export interface PodSeries {
  readonly podSandboxId: string
  readonly pod: readonly Series[]
  /** Container id -> its series. */
  readonly containers: ReadonlyMap<string, readonly Series[]>
}

/** Of one row: `container_fs_reads_total [["device","/dev/sda"]]`. */
export const seriesKey = ({ family, extra }: Pick<Series, 'family' | 'extra'>): string =>
  `${family.name} ${extra?.key ?? ''}`

/** Series of a pod when somebody wants them: those of a whole node at once are much to keep alive. */
export type LaterPodSeries = () => PodSeries

export function collectSeries(
  view: NodeView,
  { rows, switches }: { readonly rows: Rows; readonly switches: Switches },
): LaterPodSeries[] {
  const options = { rows, switches, containerFs: view.containerFs }
  const collect = (values: PodValues): PodSeries => {
    const pod: Series[] = []
    const containers = new Map<string, Series[]>(
      values.containers.filter((c) => view.container(c.info.id)).map((c) => [c.info.id, []]),
    )
    writeSweep(
      { pods: [values], opaque: [] },
      (row, timeNanos, emitAll) => {
        const into = row.kind === 'pod' ? pod : containers.get(row.labels.name)
        emitAll((family, value, extra) => {
          if (isShown(row, family, switches)) into?.push({ family, row, extra, value, timeNanos })
        })
      },
      options,
    )
    return { podSandboxId: values.info.sandboxId, pod, containers }
  }
  return view.sweep.pods
    .filter(({ info }) => view.pod(info.sandboxId) !== undefined)
    .map((values) => () => collect(values))
}
