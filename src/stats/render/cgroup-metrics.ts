// Series of /metrics/cadvisor from a cgroup sweep, for each container and each pod.
import { inTurns } from '../../core/units/turns.js'
import type { Emit } from '../catalogue/family.js'
import { alwaysFamilies as f } from '../catalogue/times-and-limits.js'
import type { CgroupSweep, PodValues } from '../cgroup/source.js'
import { emitCgroup } from '../collectors/index.js'
import { emitNetwork } from '../collectors/network.js'
import { type ContainerFs, emitContainerFs } from '../filesystem/filesystem.js'
import { type MetricsSample, type PodSample, podsWrittenATurn, type StatsSample } from '../sample.js'
import { containerLabels, type LabelSet, type LabelSets, podLabels } from './label-set.js'
import { createSeriesWriter, type SeriesWriter, type Switches } from './series-writer.js'
import { type EmitAt, emitNetworkUsage, emitUsage } from './usage-metrics.js'

/** When it was created and last seen. CRI lists no start of a container, and creation is moments before it. */
export function emitTimes(createdAtNanos: bigint, seenAtNanos: bigint, emit: Emit): void {
  if (createdAtNanos > 0n) {
    emit(f.container_creation_time_seconds, createdAtNanos)
    emit(f.container_start_time_seconds, createdAtNanos)
  }
  emit(f.container_last_seen, seenAtNanos)
}

export interface CgroupMetricsOptions {
  readonly labelSets: LabelSets
  readonly switches: Switches
  readonly containerFs: (containerId: string) => ContainerFs | undefined
}

/** One label set after another. */
export function writePod(pod: PodValues, write: SeriesWriter, o: CgroupMetricsOptions): void {
  const { info, own, network } = pod
  // Without a cgroup of its own a pod still has a network.
  const labels = podLabels(o.labelSets, info, own?.path ?? '')
  if (own !== undefined && o.switches.rows.pods)
    write(labels, own.values.timeNanos, (emit) => {
      emitCgroup(own.values, emit)
      emitTimes(info.createdAtNanos, own.values.timeNanos, emit)
    })
  if (network !== undefined) write(labels, network.timeNanos, (emit) => emitNetwork(network.values, emit))
  for (const { info: container, path, values } of pod.containers) {
    const fs = o.containerFs(container.id)
    const ofContainer = containerLabels(o.labelSets, info, container, path)
    write(ofContainer, values.timeNanos, (emit) => {
      emitCgroup(values, emit)
      emitTimes(container.createdAtNanos, values.timeNanos, emit)
    })
    if (fs !== undefined) write(ofContainer, fs.timeNanos, (emit) => emitContainerFs(fs, emit))
  }
}

function writeOpaque(
  { info, usage, network, containers }: PodSample,
  write: SeriesWriter,
  o: Pick<CgroupMetricsOptions, 'labelSets' | 'switches'>,
): void {
  const into =
    (labels: LabelSet): EmitAt =>
    (family, value, timeNanos, extra) =>
      write(labels, timeNanos, (emit) => emit(family, value, extra))
  const labels = podLabels(o.labelSets, info, '')
  if (o.switches.rows.pods) emitUsage(usage, into(labels))
  emitNetworkUsage(network, into(labels))
  for (const c of containers) emitUsage(c.usage, into(containerLabels(o.labelSets, info, c.info, '')))
}

/** From the runtime's stats alone: where it has no metrics calls and there are no cgroups, as on Windows. */
export const statsMetrics = (
  { source, timeNanos, missing, pods }: StatsSample,
  o: Pick<CgroupMetricsOptions, 'labelSets' | 'switches'>,
): MetricsSample => ({
  source,
  timeNanos,
  missing,
  write(into) {
    const write = createSeriesWriter(into, o.switches)
    return inTurns(pods, podsWrittenATurn, (pod) => writeOpaque(pod, write, o))
  },
})

export const cgroupMetrics = (sweep: CgroupSweep, o: CgroupMetricsOptions): MetricsSample => ({
  source: 'cgroup',
  timeNanos: sweep.stats.timeNanos,
  missing: sweep.stats.missing,
  async write(into) {
    const write = createSeriesWriter(into, o.switches)
    await inTurns(sweep.pods, podsWrittenATurn, (pod) => writePod(pod, write, o))
    await inTurns(sweep.opaque, podsWrittenATurn, (pod) => writeOpaque(pod, write, o))
  },
})
