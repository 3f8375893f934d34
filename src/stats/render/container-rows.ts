// Series of /metrics/cadvisor from a cgroup sweep: a row for each container, a row for each pod.
import type { Emit } from '../catalogue/family.js'
import { alwaysFamilies as f } from '../catalogue/times-and-limits.js'
import { emitCgroup } from '../cgroup/container-stats.js'
import type { CgroupSweep, PodValues } from '../cgroup/source.js'
import { emitNetwork } from '../collectors/network.js'
import { type ContainerFs, emitContainerFs } from '../filesystem/container-filesystem.js'
import type { ContainerInfo, PodInfo } from '../runtime/inventory.js'
import type { MetricsSample, PodSample, StatsSample } from '../sample.js'
import type { Row, Rows } from './row.js'
import { createRowWriter, type RowWriter, type Switches } from './row-writer.js'
import { type EmitAt, emitNetworkUsage, emitUsage } from './usage-metrics.js'

/** When it was created and last seen. CRI lists no start of a container, and creation is moments before it. */
export function emitTimes(createdAtNanos: bigint, seenAtNanos: bigint, emit: Emit): void {
  if (createdAtNanos > 0n) {
    emit(f.container_creation_time_seconds, createdAtNanos)
    emit(f.container_start_time_seconds, createdAtNanos)
  }
  emit(f.container_last_seen, seenAtNanos)
}

export const containerRow = (rows: Rows, pod: PodInfo, container: ContainerInfo, path: string): Row =>
  rows.get('container', container.id, () => ({
    container: container.name,
    id: path,
    image: container.image,
    name: container.id,
    namespace: pod.ref.namespace,
    pod: pod.ref.name,
  }))

/** `image` stays empty here: recording rules filter on it and would count the pod twice. */
export const podRow = (rows: Rows, { sandboxId, ref }: PodInfo, path: string): Row =>
  rows.get('pod', sandboxId, () => ({
    container: '',
    id: path,
    image: '',
    name: '',
    namespace: ref.namespace,
    pod: ref.name,
  }))

export interface CgroupMetricsOptions {
  readonly rows: Rows
  readonly switches: Switches
  readonly containerFs: (containerId: string) => ContainerFs | undefined
}

function writePod(pod: PodValues, write: RowWriter, o: CgroupMetricsOptions): void {
  const { info, own, network } = pod
  // Without a cgroup of its own a pod still has a network.
  const row = podRow(o.rows, info, own?.path ?? '')
  if (own !== undefined && o.switches.rows.pods)
    write(row, own.values.timeNanos, (emit) => {
      emitCgroup(own.values, emit)
      emitTimes(info.createdAtNanos, own.values.timeNanos, emit)
    })
  if (network !== undefined) write(row, network.timeNanos, (emit) => emitNetwork(network.values, emit))
  for (const { info: container, path, values } of pod.containers) {
    const fs = o.containerFs(container.id)
    const containerRowOf = containerRow(o.rows, info, container, path)
    write(containerRowOf, values.timeNanos, (emit) => {
      emitCgroup(values, emit)
      emitTimes(container.createdAtNanos, values.timeNanos, emit)
    })
    if (fs !== undefined) write(containerRowOf, fs.timeNanos, (emit) => emitContainerFs(fs, emit))
  }
}

function writeOpaque(
  { info, usage, network, containers }: PodSample,
  write: RowWriter,
  o: Pick<CgroupMetricsOptions, 'rows' | 'switches'>,
): void {
  const into =
    (row: Row): EmitAt =>
    (family, value, timeNanos, extra) =>
      write(row, timeNanos, (emit) => emit(family, value, extra))
  const row = podRow(o.rows, info, '')
  if (o.switches.rows.pods) emitUsage(usage, into(row))
  emitNetworkUsage(network, into(row))
  for (const c of containers) emitUsage(c.usage, into(containerRow(o.rows, info, c.info, '')))
}

/** From the runtime's stats alone: where it has no metrics calls and there are no cgroups, as on Windows. */
export const statsMetrics = (
  { source, timeNanos, missing, pods }: StatsSample,
  o: Pick<CgroupMetricsOptions, 'rows' | 'switches'>,
): MetricsSample => ({
  source,
  timeNanos,
  missing,
  write(into) {
    const write = createRowWriter(into, o.switches)
    for (const pod of pods) writeOpaque(pod, write, o)
  },
})

/** All series of one sweep, row by row, to whoever takes them. */
export function writeSweep(
  { pods, opaque }: Pick<CgroupSweep, 'pods' | 'opaque'>,
  write: RowWriter,
  o: CgroupMetricsOptions,
): void {
  for (const pod of pods) writePod(pod, write, o)
  for (const pod of opaque) writeOpaque(pod, write, o)
}

export const cgroupMetrics = (sweep: CgroupSweep, o: CgroupMetricsOptions): MetricsSample => ({
  source: 'cgroup',
  timeNanos: sweep.stats.timeNanos,
  missing: sweep.stats.missing,
  write: (into) => writeSweep(sweep, createRowWriter(into, o.switches), o),
})
