// The loops of the stats, built in the order in which they need each other: the kernel, the runtime's feeds, the host
// sampler that stands in for them, and the filesystems.
import type { CriClient } from '../ports/runtime.js'
import { createHost, type HostSource } from './cgroup/host-source.js'
import { createCgroupSource } from './cgroup/source.js'
import { createDeviceNames } from './collectors/device.js'
import { createFilesystemCache, type FilesystemCache } from './filesystem/filesystem-cache.js'
import { createHostSampler, type HostReading } from './host-sampler.js'
import type { EndpointName, OwnCounters } from './own-counters.js'
import { createPace, type Pace } from './pace.js'
import type { CgroupMetricsOptions } from './render/cgroup-metrics.js'
import { createLabelSets } from './render/label-set.js'
import { decideSwitches } from './render/series-writer.js'
import { createRepairs, type Repair, type RepairedValue } from './repair/repairs.js'
import { createRuntimeCalls, type RuntimeCalls } from './runtime/calls.js'
import { createRuntimeFeeds, type RuntimeFeeds } from './runtime/feeds.js'
import { createHandlers } from './runtime/handlers.js'
import { createInventoryCache, type InventoryCache, type PodInfo } from './runtime/inventory.js'
import { createRuntimeNameFinder } from './runtime/runtime-name.js'
import type { StatsSample } from './sample.js'
import { createSampler, type Sampler } from './sampler.js'
import type { StatsOptions } from './stats-options.js'
import type { Usage } from './usage.js'

export const defaultRootDir = '/var/lib/kubelet'

export interface Loops {
  /** Undefined: the gate is off, and cgroups are the only source. */
  readonly feeds: RuntimeFeeds | undefined
  /** Undefined: the node has no cgroups, and the runtime is the only source. */
  readonly hostSampler: Sampler<HostReading> | undefined
  readonly filesystems: FilesystemCache
  readonly pace: Pace
  /** Of the runtime's metrics alone: who reads only stats does not need them. */
  readonly metricsPace: Pace
  /** What is asked for is sampled now; resolves then, or after so long: half of it is the runtime's. */
  refresh(asked: EndpointName, waitMs: number, signal: AbortSignal): Promise<void>
  /** Logs, volumes and writable layers are measured now; resolves then, or after so long. */
  measureFilesystems(waitMs: number, signal: AbortSignal): Promise<void>
  readonly calls: RuntimeCalls
  /** Undefined: the node has no cgroups. */
  readonly host: HostSource | undefined
  readonly metricsOptions: CgroupMetricsOptions
  /** Wrong values of the runtime that were replaced or left out. */
  repaired(): readonly RepairedValue[]
  /** Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

export function createLoops(o: StatsOptions, counters: OwnCounters): Loops {
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
    rootDir: o.rootDir ?? defaultRootDir,
    podLogsDir: o.podLogsDir ?? '/var/log/pods',
    maxEntries: o.maxWalkedFiles ?? 200_000,
    onFailure: reportFailure,
  })
  const handlers = createHandlers(o)
  const isOpaque = (pod: PodInfo): boolean => handlers.isOpaque(pod)
  const deviceName = createDeviceNames(procfs)
  const metricsOptions: CgroupMetricsOptions = {
    labelSets: createLabelSets(),
    switches: decideSwitches(o.switches),
    containerFs: filesystems.containerFs,
  }

  const host = cgroups === undefined ? undefined : createHost({ ...o, cgroups, deviceName, isOpaque })
  const pace = createPace(clock, periodMs)
  const metricsPace = createPace(clock, periodMs)
  const common = { clock, log, counters, periodMs, pace, inventory }
  const repairs = createRepairs(o.values ?? 'repair', o.metrics, cgroups?.version)
  const findName = createRuntimeNameFinder(client, log)
  let repair: Repair | undefined
  const findRepair = async (signal: AbortSignal): Promise<Repair> => {
    repair = repairs.of(await findName(signal))
    return repair
  }
  const isHarmful = (): boolean => repair?.hasDefect('panic-without-cgroup') === true
  const feeds = o.fromCri
    ? createRuntimeFeeds({
        ...common,
        ...metricsOptions,
        metricsPace,
        calls,
        host,
        deviceName,
        findRepair,
        isHarmful,
        lookHere: o.lookHere,
      })
    : undefined
  const runtimeUsage = (id: string): Usage | undefined =>
    usageIn(feeds?.stats.current(), id) ?? filesystems.runtimeUsage(id)
  const hostSampler =
    host &&
    createHostSampler({
      ...common,
      handlers,
      host,
      source: createCgroupSource({
        context: host.context,
        locator: host.locator,
        procfs,
        nowNanos,
        isOpaque,
        runtimeUsage,
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
  feeds?.onFailure(() => hostSampler?.wake())
  const runFeeds = async ({ stats, metrics }: RuntimeFeeds, signal: AbortSignal): Promise<void> => {
    await findRepair(signal)
    await Promise.all([stats.run(signal), metrics.run(signal)])
  }

  return {
    feeds,
    hostSampler,
    filesystems,
    pace,
    metricsPace,
    async refresh(asked, waitMs, signal) {
      // The cgroups of pods are read only where the runtime has no answer by then.
      const half = waitMs / 2
      // Metrics are joined with the stats of the same moment.
      await Promise.all([
        feeds?.stats.refresh(half, signal),
        asked === 'metrics' ? feeds?.metrics.refresh(half, signal) : undefined,
      ])
      await hostSampler?.refresh(half, signal)
    },
    measureFilesystems: (waitMs, signal) => filesystemSampler.refresh(waitMs, signal),
    calls,
    host,
    metricsOptions,
    repaired: () => repairs.repaired(),
    async run(signal) {
      const stopWatching = onReconnect(client, () => {
        calls.forget()
        handlers.forget()
        feeds?.forget()
      })
      try {
        await Promise.all([
          feeds && runFeeds(feeds, signal),
          hostSampler?.run(signal),
          filesystemSampler.run(signal),
        ])
      } finally {
        stopWatching()
      }
    },
  }
}

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
