// The statistics of a companion: pods as the runtime lists them, values from their cgroups. Names and labels are those
// that the kubelet gave to the runtime, so no API server is asked.
import { createClock } from '../../adapters/clock/clock.js'
import { createStatsFiles } from '../../adapters/stats-files/stats-files.js'
import type { KeelsonConfig } from '../../config/keelson-schema.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { podPaths, readMachine } from '../../kubelet/node/node-stats.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { createStats, type Stats } from '../../stats/create-stats.js'

interface CompanionStatsOptions {
  readonly nodeName: string
  readonly client: CriClient
  readonly cgroups: CgroupTree
  readonly procfs: Procfs
  readonly driver: CgroupDriver
  readonly cgroupRoot: string
  readonly switches: KeelsonConfig['metrics']
  readonly log: Log
  readonly metrics: Metrics
}

export async function createCompanionStats(o: CompanionStatsOptions): Promise<Stats> {
  const { procfs } = o
  const statsFiles = createStatsFiles()
  return createStats({
    nodeName: o.nodeName,
    client: o.client,
    cgroups: o.cgroups,
    procfs,
    files: statsFiles,
    clock: createClock(),
    log: o.log,
    metrics: o.metrics,
    // The kubelet beside it has the runtime's values; this is the other source, which it gives up.
    fromCri: false,
    machine: await readMachine({ procfs, statsFiles }),
    periodMs: o.switches.period,
    switches: o.switches,
    ...podPaths(o.driver, o.cgroupRoot),
  })
}
