// The stats of a node: two sources, the loops that sample them, and the three answers made from the newest samples.
import { keelsonError } from '../core/errors.js'
import { didYouMean } from '../core/units/nearest-name.js'
import { allFamilies } from './catalogue/index.js'
import { alwaysFamilies } from './catalogue/times-and-limits.js'
import { createLoops, defaultRootDir } from './loops.js'
import { memoizeBody } from './memoize-latest.js'
import { createOwnCounters } from './own-counters.js'
import { createPressureStats, type PressureStats } from './pressure.js'
import { createExposition } from './render/exposition.js'
import { writeMachine } from './render/machine-metrics.js'
import { writeResourceMetrics } from './render/resource-metrics.js'
import { createSeriesWriter, unknownFamilies } from './render/series-writer.js'
import { writeSummary } from './render/summary.js'
import type { TextPieces } from './render/text-bytes.js'
import type { MetricsSample, NodeReading, SourceName, StatsSample } from './sample.js'
import { createSources, type StatsDescription } from './sources.js'
import type { StatsOptions } from './stats-options.js'

export interface Stats {
  /**
   * JSON of /stats/summary. Only the first request after a start, or after a while without any, waits, at most so long. Error: stats.node-unreadable.
   */
  summary(full: boolean, waitMs: number): Promise<TextPieces>
  /** Prometheus text of /metrics/resource. */
  resource(waitMs: number): Promise<TextPieces>
  /** Prometheus text of /metrics/cadvisor. */
  cadvisor(waitMs: number): Promise<TextPieces>
  /** For eviction. */
  readonly pressure: PressureStats
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
      'pod stats are read from cgroups because the feature gate PodAndContainerStatsFromCRI is off; this source is deprecated',
      { remedy: 'compare both sources with `keelson doctor parity`, then enable the gate' },
    )
  for (const name of unknownFamilies(o.switches))
    o.log.warn('metrics.disable or metrics.enable names an unknown metric', {
      name,
      remedy: `correct metrics.disable or metrics.enable${didYouMean(
        name,
        allFamilies.map((f) => f.name),
      )}`,
    })
  const loops = createLoops(o, counters)
  const sources = createSources(loops, o.clock)
  const { filesystems } = loops
  const { labelSets, switches } = loops.metricsOptions

  const summaryBody = (full: boolean) => (node: NodeReading, stats: StatsSample | undefined) =>
    writeSummary(
      {
        nodeName: o.nodeName,
        node: node.sample,
        filesystems: filesystems.node(),
        pods: stats?.pods ?? [],
        podFilesystems: filesystems.pods(),
      },
      full,
    )
  const makeFull = summaryBody(true)
  // Filesystem values change between samples too.
  const full = memoizeBody((node: NodeReading, stats: StatsSample | undefined, _version: number) =>
    makeFull(node, stats),
  )
  const light = memoizeBody(summaryBody(false))
  const resource = memoizeBody((node: NodeReading | undefined, stats: StatsSample | undefined) =>
    writeResourceMetrics({
      node: node?.sample,
      pods: stats?.pods ?? [],
      failed: node === undefined || stats === undefined,
    }),
  )
  const cadvisor = memoizeBody(
    async (node: NodeReading | undefined, metrics: MetricsSample | undefined, _version: number) => {
      const into = createExposition()
      into.add(alwaysFamilies.container_scrape_error, '', metrics === undefined ? 1n : 0n, '')
      if (o.machine !== undefined) writeMachine(o.machine, into)
      node?.write(labelSets, createSeriesWriter(into, switches), switches)
      await metrics?.write(into)
      labelSets.sweep()
      return into.pieces()
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
      await sources.ready('stats', waitMs)
      const node = sources.node()
      if (node === undefined)
        throw keelsonError(
          'stats.node-unreadable',
          o.cgroups === undefined
            ? `read the stats of this node: it has no cgroups, and the runtime at ${o.client.socketPath} gives no stats now; is it running?`
            : 'read the stats of this node: nothing could be read yet; are /proc and the cgroups mounted?',
        )
      const stats = sources.stats()
      report('stats', stats)
      return await (isFull ? full(node, stats, filesystems.version) : light(node, stats))
    },
    async resource(waitMs) {
      await sources.ready('stats', waitMs)
      const stats = sources.stats()
      report('stats', stats)
      return await resource(sources.node(), stats)
    },
    async cadvisor(waitMs) {
      await sources.ready('metrics', waitMs)
      const metrics = sources.metrics()
      report('metrics', metrics)
      return await cadvisor(sources.node(), metrics, filesystems.version)
    },
    pressure: createPressureStats({
      loops,
      stats: () => sources.stats(),
      node: () => sources.node()?.sample,
      files: o.files,
      clock: o.clock,
      rootDir: o.rootDir ?? defaultRootDir,
    }),
    describe: () => sources.describe(),
    run: (signal) => loops.run(signal),
  }
}
