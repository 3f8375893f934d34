// Which sample answers: the runtime's, the one from cgroups, or what can be made of the runtime's stats alone.
import type { Clock } from '../ports/clock.js'
import type { Loops } from './loops.js'
import { memoizePerSample } from './memoize-latest.js'
import type { EndpointName } from './own-counters.js'
import { statsMetrics } from './render/cgroup-metrics.js'
import type { RepairedValue } from './repair/repairs.js'
import type { FeedState, RuntimeFeed } from './runtime/feed.js'
import { createRuntimeNode } from './runtime/runtime-node.js'
import type { MetricsSample, NodeReading, SourceName, StatsSample } from './sample.js'

interface EndpointSource {
  /** Null: no sample yet. */
  readonly source: SourceName | null
  /** Null: the gate is off. */
  readonly runtime: FeedState | null
}

export interface StatsDescription {
  readonly fromCri: boolean
  readonly stats: EndpointSource
  readonly metrics: EndpointSource
  /** Wrong values of the runtime that were replaced or left out. */
  readonly repaired: readonly RepairedValue[]
}

interface Sources {
  node(): NodeReading | undefined
  stats(): StatsSample | undefined
  metrics(): MetricsSample | undefined
  /** A client asks. Resolves when there is a sample to answer with that is new enough, or after so long. */
  ready(asked: EndpointName, waitMs: number): Promise<void>
  describe(): StatsDescription
}

const never = new AbortController().signal

/** How often the first scrape after a start looks whether there is a sample. */
const POLL_MS = 50

/** A sample of the runtime that may be served, else the cgroup sweep, else the runtime's last sample however old. */
const choose = <S>(feed: RuntimeFeed<S> | undefined, swept: S | undefined): S | undefined =>
  feed?.current() ?? swept ?? feed?.last()

export function createSources(
  { feeds, hostSampler, metricsOptions, repaired, pace, metricsPace, refresh }: Loops,
  clock: Pick<Clock, 'sleep'>,
): Sources {
  const hasCgroups = hostSampler !== undefined
  const metricsFromStats = memoizePerSample((sample: StatsSample) => statsMetrics(sample, metricsOptions))
  const nodeFromStats = memoizePerSample(createRuntimeNode)

  const stats = (): StatsSample | undefined => choose(feeds?.stats, hostSampler?.newest()?.pods?.stats)
  const metrics = (): MetricsSample | undefined => {
    const chosen = choose(feeds?.metrics, hostSampler?.newest()?.pods?.metrics)
    if (chosen !== undefined || hasCgroups) return chosen
    const sample = stats()
    return sample && metricsFromStats(sample)
  }
  const node = (): NodeReading | undefined => {
    if (hasCgroups) return hostSampler.newest()?.node
    // An old sample does not describe the node: the answers say that the runtime is unreachable.
    const sample = feeds?.stats.current()
    return sample && nodeFromStats(sample)
  }

  /** For the first request after a while; those that come meanwhile wait for the same. */
  const refreshing = new Map<EndpointName, Promise<void>>()
  let hasWaited = false
  const isReady = (): boolean =>
    hasWaited || (stats() !== undefined && metrics() !== undefined && (!hasCgroups || node() !== undefined))

  return {
    node,
    stats,
    metrics,
    async ready(asked, waitMs) {
      const needed = asked === 'metrics' ? [pace, metricsPace] : [pace]
      // Each of them hears it.
      const isOld = needed.map((one) => one.asked()).includes(true)
      if (isOld && !refreshing.has(asked))
        refreshing.set(
          asked,
          refresh(asked, waitMs, never).finally(() => refreshing.delete(asked)),
        )
      const underWay = refreshing.get(asked)
      if (underWay !== undefined) await underWay
      for (let left = waitMs; left > 0 && !isReady(); left -= POLL_MS) await clock.sleep(POLL_MS)
      // Later requests do not wait again for what is missing by now.
      hasWaited ||= waitMs > 0
    },
    describe: () => ({
      fromCri: feeds !== undefined,
      stats: { source: stats()?.source ?? null, runtime: feeds?.stats.state ?? null },
      metrics: { source: metrics()?.source ?? null, runtime: feeds?.metrics.state ?? null },
      repaired: repaired(),
    }),
  }
}
