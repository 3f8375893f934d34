// Puts the two sources together: which loops run, and which sample answers.
import type { CriClient } from '../ports/runtime.js'
import { createHost } from './cgroup/host-source.js'
import { createCgroupSource } from './cgroup/source.js'
import { createDeviceNames } from './collectors/device.js'
import { createFilesystemCache, type FilesystemCache } from './filesystem/filesystem-cache.js'
import { createHostSampler } from './host-sampler.js'
import { memoizePerSample } from './memoize-latest.js'
import type { OwnCounters } from './own-counters.js'
import { statsMetrics } from './render/cgroup-metrics.js'
import { createLabelSets, type LabelSets } from './render/label-set.js'
import { decideSwitches, type Switches } from './render/series-writer.js'
import { createRuntimeCalls } from './runtime/calls.js'
import type { FeedState, RuntimeFeed } from './runtime/feed.js'
import { createRuntimeFeeds, type RuntimeFeeds } from './runtime/feeds.js'
import { createHandlers } from './runtime/handlers.js'
import { createInventoryCache, type InventoryCache, type PodInfo } from './runtime/inventory.js'
import { createRuntimeNode } from './runtime/runtime-node.js'
import type { MetricsSample, NodeReading, SourceName, StatsSample } from './sample.js'
import { createSampler, type Sampler } from './sampler.js'
import type { StatsOptions } from './stats-options.js'
import type { Usage } from './usage.js'

export interface StatsDescription {
  readonly fromCri: boolean
  readonly stats: { readonly source: SourceName | null; readonly runtime: FeedState | null }
  readonly metrics: { readonly source: SourceName | null; readonly runtime: FeedState | null }
}

interface Sources {
  readonly labelSets: LabelSets
  readonly switches: Switches
  readonly filesystems: FilesystemCache
  /** Resolves when there is a sample to answer with, or after so long. */
  ready(waitMs: number): Promise<void>
  node(): NodeReading | undefined
  stats(): StatsSample | undefined
  metrics(): MetricsSample | undefined
  describe(): StatsDescription
  run(signal: AbortSignal): Promise<void>
}

/** How often the first scrape after a start looks whether there is a sample. */
const POLL_MS = 50

export function createSources(o: StatsOptions, counters: OwnCounters): Sources {
  const { clock, log, procfs, cgroups, client } = o
  const periodMs = o.periodMs ?? 10_000
  const nowNanos = (): bigint => clock.nowNanos()
  const reportFailure = (what: string, error: unknown): void => {
    counters.failed(what)
    log.debug('failed to read stats', { what, error })
  }

  const calls = createRuntimeCalls({
    client,
    ...(o.imageClient === undefined ? {} : { imageClient: o.imageClient }),
    listTimeoutMs: o.listTimeoutMs ?? 5_000,
    statsTimeoutMs: o.statsTimeoutMs ?? 30_000,
    streaming: o.streaming === true,
  })
  const inventory = createInventoryCache({
    calls,
    clock,
    periodMs,
    onFailure: (error) => reportFailure('inventory', error),
  })
  const filesystems = createFilesystemCache({
    files: o.files,
    calls,
    nowNanos,
    rootDir: o.rootDir ?? '/var/lib/kubelet',
    podLogsDir: o.podLogsDir ?? '/var/log/pods',
    maxEntries: o.maxWalkedFiles ?? 200_000,
    onFailure: reportFailure,
  })
  const handlers = createHandlers(o)
  const isOpaque = (pod: PodInfo): boolean => handlers.isOpaque(pod)
  const deviceName = createDeviceNames(procfs)
  const labelSets = createLabelSets()
  const switches = decideSwitches(o.switches)
  const metricsOptions = { labelSets, switches, containerFs: filesystems.containerFs }

  const host = cgroups === undefined ? undefined : createHost({ ...o, cgroups, deviceName, isOpaque })
  const common = { clock, log, counters, periodMs, inventory }
  const feeds = o.fromCri
    ? createRuntimeFeeds({ ...common, calls, host, labelSets, switches, deviceName })
    : undefined
  const hostSampler =
    host === undefined
      ? undefined
      : createHostSampler({
          ...common,
          handlers,
          host,
          source: createCgroupSource({
            context: host.context,
            locator: host.locator,
            procfs,
            nowNanos,
            isOpaque,
            runtimeUsage: (id) => usageIn(feeds?.stats.current(), id) ?? filesystems.runtimeUsage(id),
          }),
          metricsOptions,
          feeds,
        })
  const filesystemSampler = createFilesystemSampler(o, {
    inventory,
    filesystems,
    feeds,
    counters,
    reportFailure,
  })
  for (const feed of feeds === undefined ? [] : [feeds.stats, feeds.metrics])
    feed.onFailure(() => hostSampler?.wake())

  const stats = (): StatsSample | undefined => choose(feeds?.stats, hostSampler?.newest()?.pods?.stats)
  const metricsFromStats = memoizePerSample((sample: StatsSample) => statsMetrics(sample, metricsOptions))
  const metrics = (): MetricsSample | undefined => {
    const chosen = choose(feeds?.metrics, hostSampler?.newest()?.pods?.metrics)
    if (chosen !== undefined || host !== undefined) return chosen
    const sample = stats()
    return sample && metricsFromStats(sample)
  }
  // Without cgroups an old sample does not describe the node: the answers say that the runtime is unreachable.
  const nodeFromStats = memoizePerSample(createRuntimeNode)
  const node = (): NodeReading | undefined => {
    if (host !== undefined) return hostSampler?.newest()?.node
    const sample = feeds?.stats.current()
    return sample && nodeFromStats(sample)
  }
  let hasWaited = false
  const isReady = (): boolean =>
    hasWaited ||
    (stats() !== undefined && metrics() !== undefined && (host === undefined || node() !== undefined))

  return {
    labelSets,
    switches,
    filesystems,
    async ready(waitMs) {
      for (let left = waitMs; left > 0 && !isReady(); left -= POLL_MS) await clock.sleep(POLL_MS)
      // Later requests do not wait again for what is missing by now.
      hasWaited ||= waitMs > 0
    },
    node,
    stats,
    metrics,
    describe: () => ({
      fromCri: o.fromCri,
      stats: { source: stats()?.source ?? null, runtime: feeds?.stats.state ?? null },
      metrics: { source: metrics()?.source ?? null, runtime: feeds?.metrics.state ?? null },
    }),
    async run(signal) {
      const stopWatching = onReconnect(client, () => {
        calls.forget()
        handlers.forget()
        feeds?.forget()
      })
      try {
        await Promise.all([
          feeds?.stats.run(signal),
          feeds?.metrics.run(signal),
          hostSampler?.run(signal),
          filesystemSampler.run(signal),
        ])
      } finally {
        stopWatching()
      }
    },
  }
}

/** A sample of the runtime that may be served, else the cgroup sweep, else the runtime's last sample however old. */
const choose = <S>(feed: RuntimeFeed<S> | undefined, swept: S | undefined): S | undefined =>
  feed?.current() ?? swept ?? feed?.last()

const usageIn = (sample: StatsSample | undefined, id: string): Usage | undefined =>
  sample?.pods.flatMap((pod) => pod.containers).find((c) => c.info.id === id)?.usage

interface FilesystemSamplerParts {
  readonly inventory: InventoryCache
  readonly filesystems: FilesystemCache
  readonly feeds: RuntimeFeeds | undefined
  readonly counters: OwnCounters
  readonly reportFailure: (what: string, error: unknown) => void
}

/** Logs, volumes and writable layers; the layers come with the runtime's stats where those are in use. */
const createFilesystemSampler = (
  { clock, filesystemPeriodMs }: StatsOptions,
  { inventory, filesystems, feeds, counters, reportFailure }: FilesystemSamplerParts,
): Sampler<void> =>
  createSampler<void>({
    clock,
    periodMs: filesystemPeriodMs ?? 60_000,
    async read(signal) {
      const { pods } = await inventory.refresh(signal)
      const layers = (feeds?.stats.current()?.pods ?? [])
        .flatMap((pod) => pod.containers.map((c) => c.writableLayer))
        .filter((layer) => layer !== undefined)
      await filesystems.refresh(pods, layers, signal)
    },
    onFailure(e) {
      reportFailure('filesystems', e)
      return undefined
    },
    onLate: () => counters.late('filesystems'),
  })

/** Calls back when a lost connection to the runtime is back. Returns how to stop. */
function onReconnect(client: Pick<CriClient, 'onState'>, listener: () => void): () => void {
  let wasLost = false
  return client.onState((state) => {
    if (state === 'idle' || state === 'backoff') wasLost = true
    if (state !== 'ready' || !wasLost) return
    wasLost = false
    listener()
  })
}
