// What a CRI server in this process has read of the node, taken as it is: as messages the same values would be made, sent and read
// again for each sample, and thrown away.
import type { CgroupSweep } from '../cgroup/source.js'
import type { ContainerFs } from '../filesystem/filesystem.js'
import { type CgroupMetricsOptions, cgroupMetrics } from '../render/cgroup-metrics.js'
import type { LayerUsage, MetricsSample, StatsSample } from '../sample.js'
import { rejectEmptySample } from './feed.js'

interface LocalLook {
  readonly sweep: CgroupSweep
  layer(containerId: string): LayerUsage | undefined
  containerFs(containerId: string): ContainerFs | undefined
}

/** Undefined: some values are the runtime's own, and have to be asked for. Errors: those of the runtime's lists. */
export type LookHere = () => Promise<LocalLook | undefined>

function rejectEmpty(rpc: string, { stats }: CgroupSweep): void {
  const pods = stats.pods.map(({ info }) => info)
  rejectEmptySample(rpc, { timeNanos: stats.timeNanos, pods }, stats)
}

/** As from ListPodSandboxStats. */
export function localStats({ sweep, layer }: LocalLook): StatsSample {
  rejectEmpty('ListPodSandboxStats', sweep)
  return {
    ...sweep.stats,
    source: 'cri',
    pods: sweep.stats.pods.map((pod) => ({
      ...pod,
      containers: pod.containers.map((c) => ({ ...c, writableLayer: layer(c.info.id) })),
    })),
  }
}

/** As from ListPodSandboxMetrics. */
export function localMetrics(
  { sweep, containerFs }: LocalLook,
  options: Omit<CgroupMetricsOptions, 'containerFs'>,
): MetricsSample {
  rejectEmpty('ListPodSandboxMetrics', sweep)
  return { ...cgroupMetrics(sweep, { ...options, containerFs }), source: 'cri' }
}
