// The loop that reads the kernel: the node in every round; the cgroups of pods only while an endpoint needs them, so that
// no value is collected twice.
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import type { HostSource } from './cgroup/host-source.js'
import type { CgroupSource } from './cgroup/source.js'
import type { OwnCounters } from './own-counters.js'
import type { Pace } from './pace.js'
import { type CgroupMetricsOptions, cgroupMetrics } from './render/cgroup-metrics.js'
import type { RuntimeFeeds } from './runtime/feeds.js'
import type { Handlers } from './runtime/handlers.js'
import type { Inventory, InventoryCache } from './runtime/inventory.js'
import type { MetricsSample, NodeReading, StatsSample } from './sample.js'
import { createSampler, type Sampler, waitAtMost } from './sampler.js'

export interface HostReading {
  readonly node: NodeReading
  /** Undefined: the cgroups of pods were not read. */
  readonly pods: { readonly stats: StatsSample; readonly metrics: MetricsSample } | undefined
}

interface HostSamplerOptions {
  readonly clock: Clock
  readonly log: Log
  readonly counters: OwnCounters
  readonly periodMs: number
  readonly pace: Pace
  readonly inventory: InventoryCache
  readonly handlers: Handlers
  readonly host: HostSource
  readonly source: CgroupSource
  readonly metricsOptions: CgroupMetricsOptions
  /** Undefined: cgroups are the only source. */
  readonly feeds: RuntimeFeeds | undefined
}

/** The runtime gets this long for its first answer before cgroups are read instead. */
const HEAD_START_MS = 2_000

/** Before the first list nothing is known, which is not the same as a node without pods. */
const needsSweep = (inventory: Inventory, feeds: RuntimeFeeds | undefined): boolean =>
  inventory.timeNanos !== 0n &&
  (feeds?.stats.current() === undefined || feeds.metrics.current() === undefined)

export function createHostSampler(o: HostSamplerOptions): Sampler<HostReading> {
  const { clock, periodMs, pace, inventory, feeds } = o
  let isFirst = true
  return createSampler<HostReading>({
    clock,
    periodMs,
    async read(signal) {
      if (isFirst && feeds !== undefined) {
        isFirst = false
        const attempts = Promise.all([feeds.stats.firstAttempt, feeds.metrics.firstAttempt])
        await waitAtMost(clock, HEAD_START_MS, attempts, signal)
      }
      const listed = await inventory.refresh(signal)
      await o.handlers.refresh(signal)
      const node = o.host.node.read()
      if (!needsSweep(listed, feeds)) return { node, pods: undefined }
      const sweep = await o.source.sweep(listed, signal)
      return { node, pods: { stats: sweep.stats, metrics: cgroupMetrics(sweep, o.metricsOptions) } }
    },
    onFailure(e) {
      o.counters.failed('host')
      o.log.error('failed to read the stats of this node', { error: e })
      return undefined
    },
    onLate: () => o.counters.late('cgroup'),
    // Until the runtime has listed its pods, it is asked more often.
    nextMs: () => (inventory.current().timeNanos === 0n ? periodMs / 10 : pace.periodMs()),
  })
}
