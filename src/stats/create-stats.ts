// The statistics of a node: two sources, the loops that sample them, and the three answers made from the newest samples.
import { keelsonError } from '../core/errors.js'
import { didYouMean } from '../core/units/nearest-name.js'
import { allFamilies } from './catalogue/index.js'
import { alwaysFamilies } from './catalogue/times-and-limits.js'
import type { NodeReading } from './cgroup/node-reader.js'
import { createSharedAnswer } from './memoize-latest.js'
import { createOwnCounters } from './own-counters.js'
import { createExposition } from './render/exposition.js'
import { formatJson } from './render/json.js'
import { writeMachine } from './render/machine-metrics.js'
import { buildResourceMetrics } from './render/resource-metrics.js'
import { createRowWriter, unknownFamilies } from './render/row-writer.js'
import { buildSummary } from './render/summary.js'
import type { MetricsSample, SourceName, StatsSample } from './sample.js'
import { createSources, type StatsDescription } from './sources.js'
import type { StatsOptions } from './stats-options.js'

export interface Stats {
  /**
   * JSON of /stats/summary. Only the first caller after a start waits, at most so long. Error: stats.node-unreadable.
   */
  summary(full: boolean, waitMs: number): Promise<Uint8Array>
  /** Prometheus text of /metrics/resource. */
  resource(waitMs: number): Promise<Uint8Array>
  /** Prometheus text of /metrics/cadvisor. */
  cadvisor(waitMs: number): Promise<Uint8Array>
  /** Which source each endpoint uses, for /configz. */
  describe(): StatsDescription
  /** The loops. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

export function createStats(o: StatsOptions): Stats {
  const counters = createOwnCounters(o.metrics)
  counters.provider(o.fromCri ? 'cri' : 'cadvisor')
  if (!o.fromCri && o.cgroupSourceIsDeprecated === true)
    o.log.warn(
      'values of pods are read from cgroups because the feature gate PodAndContainerStatsFromCRI is off; this source is deprecated',
      { remedy: 'compare both sources with `keelson doctor parity`, then switch the gate on' },
    )
  for (const name of unknownFamilies(o.switches))
    o.log.warn('a metric that is to be switched does not exist', {
      name,
      remedy: `correct metrics.disable or metrics.enable${didYouMean(
        name,
        allFamilies.map((f) => f.name),
      )}`,
    })
  const sources = createSources(o, counters)
  const { rows, switches, filesystems } = sources

  const summaryText = (full: boolean) => (node: NodeReading, stats: StatsSample | undefined) =>
    formatJson(
      buildSummary(
        {
          nodeName: o.nodeName,
          node: node.sample,
          filesystems: filesystems.node(),
          pods: stats?.pods ?? [],
          podFilesystems: filesystems.pods(),
        },
        full,
      ),
    )
  const makeFull = summaryText(true)
  // Filesystem values change apart from the samples.
  const full = createSharedAnswer((node: NodeReading, stats: StatsSample | undefined, _version: number) =>
    makeFull(node, stats),
  )
  const light = createSharedAnswer(summaryText(false))
  const resource = createSharedAnswer((node: NodeReading | undefined, stats: StatsSample | undefined) =>
    buildResourceMetrics({
      node: node?.sample,
      pods: stats?.pods ?? [],
      failed: node === undefined || stats === undefined,
    }),
  )
  const cadvisor = createSharedAnswer(
    (node: NodeReading | undefined, metrics: MetricsSample | undefined, _version: number) => {
      const into = createExposition()
      into.add(alwaysFamilies.container_scrape_error, '', metrics === undefined ? 1n : 0n, '')
      if (o.machine !== undefined) writeMachine(o.machine, into)
      node?.write(rows, createRowWriter(into, switches), switches)
      metrics?.write(into)
      rows.sweep()
      return into.text()
    },
  )
  const report = (
    endpoint: 'stats' | 'metrics',
    sample: { source: SourceName; missing: number } | undefined,
  ) => {
    if (sample === undefined) return
    counters.source(endpoint, sample.source)
    counters.missing(endpoint, sample.missing)
  }

  return {
    async summary(isFull, waitMs) {
      await sources.ready(waitMs)
      const node = sources.node()
      if (node === undefined)
        throw keelsonError(
          'stats.node-unreadable',
          o.cgroups === undefined
            ? `read the stats of this node: it has no cgroups, and the runtime at ${o.client.socketPath} gives none now; is it running?`
            : "read the node's own values: nothing could be read yet; is /proc mounted, and cgroups?",
        )
      const stats = sources.stats()
      report('stats', stats)
      return isFull ? full(node, stats, filesystems.version) : light(node, stats)
    },
    async resource(waitMs) {
      await sources.ready(waitMs)
      const stats = sources.stats()
      report('stats', stats)
      return resource(sources.node(), stats)
    },
    async cadvisor(waitMs) {
      await sources.ready(waitMs)
      const metrics = sources.metrics()
      report('metrics', metrics)
      return cadvisor(sources.node(), metrics, filesystems.version)
    },
    describe: () => sources.describe(),
    run: (signal) => sources.run(signal),
  }
}
