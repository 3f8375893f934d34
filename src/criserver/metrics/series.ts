// The series of a look at the node, as values: the RPC and the Prometheus endpoint are two ways to write them.
import type { PodValues } from '../../stats/cgroup/source.js'
import { writePod } from '../../stats/render/cgroup-metrics.js'
import type { LabelSets } from '../../stats/render/label-set.js'
import type { Series } from '../../stats/render/series.js'
import { isShown, type Switches } from '../../stats/render/series-writer.js'
import type { NodeView } from '../stats/node-view.js'

export interface PodSeries {
  readonly podSandboxId: string
  readonly pod: readonly Series[]
  /** Container id -> its series. */
  readonly containers: ReadonlyMap<string, readonly Series[]>
}

/** The series of a pod, made when they are written: those of a whole node at once would take much memory. */
export type LaterPodSeries = () => PodSeries

export function collectSeries(
  view: NodeView,
  { labelSets, switches }: { readonly labelSets: LabelSets; readonly switches: Switches },
): LaterPodSeries[] {
  const options = { labelSets, switches, containerFs: view.containerFs }
  const collect = (values: PodValues): PodSeries => {
    const pod: Series[] = []
    const containers = new Map<string, Series[]>(
      values.containers.filter((c) => view.container(c.info.id)).map((c) => [c.info.id, []]),
    )
    writePod(
      values,
      (labels, timeNanos, emitAll) => {
        const into = labels.kind === 'pod' ? pod : containers.get(labels.values.name)
        emitAll((family, value, extra) => {
          if (isShown(labels, family, switches)) into?.push({ family, labels, extra, value, timeNanos })
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
