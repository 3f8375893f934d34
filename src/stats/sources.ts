// Puts the two sources together: which loops run, and which sample answers. The cgroup sweep covers pods only while an
// endpoint needs it, so that no value is collected twice.

import { keelsonError } from '../core/errors.js'
import { createCpuHistory } from './cgroup/cpu-history.js'
import { createHost } from './cgroup/host-source.js'
import type { NodeReading } from './cgroup/node-reader.js'
import { createFilesystemCache, type FilesystemCache } from './filesystem/filesystem-cache.js'
import { createPerSample } from './memoize-latest.js'
import type { OwnCounters } from './own-counters.js'
import { type CgroupMetricsOptions, cgroupMetrics, statsMetrics } from './render/container-rows.js'
import { createRows, type Rows } from './render/row.js'
import { decideSwitches, type Switches } from './render/row-writer.js'
import { createRuntimeCalls } from './runtime/calls.js'
import { type CriPart, createCriPart, type PartState } from './runtime/feed.js'
import { createHandlers } from './runtime/handlers.js'
import type { Inventory, PodInfo } from './runtime/inventory.js'
import { createInventoryCache } from './runtime/inventory-cache.js'
import { createCriMetricsSource } from './runtime/metrics-source.js'
import { createRuntimeNode } from './runtime/runtime-node.js'
import { criStatsSample } from './runtime/stats.js'
import type { MetricsSample, SourceName, StatsSample } from './sample.js'
import { createSampler } from './sampler.js'
import type { StatsOptions } from './stats-options.js'
import type { Usage } from './usage.js'

export interface StatsDescription {
  readonly fromCri: boolean
  readonly stats: { readonly source: SourceName | null; readonly runtime: PartState | null }
  readonly metrics: { readonly source: SourceName | null; readonly runtime: PartState | null }
}

export interface Sources {
  readonly rows: Rows
  readonly switches: Switches
  readonly filesystems: FilesystemCache
  /** Resolves when there is something to answer with, or after so long. */
  ready(waitMs: number): Promise<void>
  node(): NodeReading | undefined
  stats(): StatsSample | undefined
  metrics(): MetricsSample | undefined
  describe(): StatsDescription
  run(signal: AbortSignal): Promise<void>
}

/** The runtime gets this long for its first answer before cgroups are read instead. */
const HEAD_START_MS = 2_000
/** How often the first scrape after a start looks whether there is something. */
const LOOK_MS = 50

interface HostReading {
  readonly node: NodeReading
  /** Undefined: both endpoints had the runtime's values. */
  readonly pods: { readonly stats: StatsSample; readonly metrics: MetricsSample } | undefined
}

export function createSources(o: StatsOptions, counters: OwnCounters): Sources {
  const { clock, log, procfs, cgroups, client } = o
  const periodMs = o.periodMs ?? 10_000
  const rows = createRows()
  const switches = decideSwitches(o.switches)
  const failed = (what: string) => (error: unknown) => {
    counters.failed(what)
    log.debug('values could not be read', { what, error })
  }
  const nowNanos = (): bigint => clock.nowNanos()
  const calls = createRuntimeCalls({
    client,
    ...(o.imageClient === undefined ? {} : { imageClient: o.imageClient }),
    listTimeoutMs: o.listTimeoutMs ?? 5_000,
    statsTimeoutMs: o.statsTimeoutMs ?? 30_000,
    streaming: o.streaming === true,
  })
  const inventory = createInventoryCache({ calls, clock, periodMs, onFailure: failed('inventory') })
  const filesystems = createFilesystemCache({
    files: o.files,
    calls,
    nowNanos,
    rootDir: o.rootDir ?? '/var/lib/kubelet',
    podLogsDir: o.podLogsDir ?? '/var/log/pods',
    maxEntries: o.maxWalkedFiles ?? 200_000,
    onFailure: (what, error) => failed(what)(error),
  })
  const deviceName = (numbers: string): string | undefined => {
    const name = procfs.deviceName(numbers)
    return name === undefined ? undefined : `/dev/${name}`
  }
  const handlers = createHandlers(o)
  const runtimeUsage = (id: string): Usage | undefined =>
    usageIn(criStats?.fresh(), id) ?? filesystems.runtimeUsage(id)
  const host =
    cgroups === undefined
      ? undefined
      : createHost({ ...o, cgroups }, deviceName, runtimeUsage, (pod) => handlers.isOpaque(pod))
  const hasHostNetwork = (pod: PodInfo): boolean => host?.hasHostNetwork(pod) === true
  const metricsOptions: CgroupMetricsOptions = { rows, switches, containerFs: filesystems.containerFs }

  const part = <T>(endpoint: 'stats' | 'metrics', take: (signal: AbortSignal) => Promise<T>): CriPart<T> =>
    createCriPart({
      endpoint,
      clock,
      log,
      counters,
      periodMs,
      hasCgroups: host !== undefined,
      take,
      onLost: () => hostSampler?.wake(),
    })
  const history = createCpuHistory()
  const criStats = o.fromCri
    ? part('stats', async (signal) => {
        const stats = await calls.podStats(signal)
        const receivedNanos = nowNanos()
        const listed = await inventory.refresh(signal)
        host?.locator.refresh(listed)
        return somethingOf(listed, criStatsSample(stats, listed, history, receivedNanos, hasHostNetwork))
      })
    : undefined
  const metricsSource = createCriMetricsSource({
    calls,
    nowNanos,
    onLosses: (losses) => counters.losses(losses),
    async rest(signal) {
      const listed = await inventory.refresh(signal)
      host?.locator.refresh(listed)
      return {
        inventory: listed,
        rows,
        switches,
        deviceName,
        hasHostNetwork,
        stats: criStats?.fresh(),
        ...(host?.lookUp(listed) ?? { exactCpu: () => undefined, cgroupPath: () => undefined }),
      }
    },
  })
  const criMetrics = o.fromCri ? part('metrics', (signal) => metricsSource.take(signal)) : undefined

  const needsSweep = (): boolean => criStats?.fresh() === undefined || criMetrics?.fresh() === undefined
  let isFirst = true
  const hostSampler =
    host === undefined
      ? undefined
      : createSampler<HostReading>({
          clock,
          periodMs,
          async take(signal) {
            if (isFirst && criStats !== undefined && criMetrics !== undefined) {
              isFirst = false
              await within(
                HEAD_START_MS,
                Promise.all([criStats.firstAttempt, criMetrics.firstAttempt]),
                signal,
              )
            }
            const listed = await inventory.refresh(signal)
            await handlers.refresh(signal)
            const node = host.node.read()
            // Before the first list nothing is known, which is not the same as a node without pods.
            if (listed.timeNanos === 0n || !needsSweep()) return { node, pods: undefined }
            const sweep = await host.source.sweep(listed, signal)
            return { node, pods: { stats: sweep.stats, metrics: cgroupMetrics(sweep, metricsOptions) } }
          },
          onFailure(e) {
            counters.failed('host')
            log.error('the values of this node could not be read', { error: e })
            return undefined
          },
          onLate: () => counters.late('cgroup'),
          nextMs: () => (inventory.current().timeNanos === 0n ? periodMs / 10 : periodMs),
        })
  const filesystemSampler = createSampler<void>({
    clock,
    periodMs: o.filesystemPeriodMs ?? 60_000,
    async take(signal) {
      const { pods } = await inventory.refresh(signal)
      const layers = (criStats?.fresh()?.pods ?? [])
        .flatMap((pod) => pod.containers.map((c) => c.writableLayer))
        .filter((layer) => layer !== undefined)
      await filesystems.refresh(pods, layers, signal)
    },
    onFailure(e) {
      failed('filesystems')(e)
      return undefined
    },
    onLate: () => counters.late('filesystems'),
  })

  async function within(ms: number, work: Promise<unknown>, signal?: AbortSignal): Promise<void> {
    const done = new AbortController()
    const signals = signal === undefined ? [done.signal] : [done.signal, signal]
    const timer = clock.sleep(ms, AbortSignal.any(signals)).catch(() => undefined)
    await Promise.race([work, timer])
    done.abort()
  }

  const swept = () => hostSampler?.newest()?.value.pods
  const stats = (): StatsSample | undefined => criStats?.fresh() ?? swept()?.stats ?? criStats?.newest()
  const fromStats = createPerSample((sample: StatsSample) => statsMetrics(sample, metricsOptions))
  const metrics = (): MetricsSample | undefined => {
    const found = criMetrics?.fresh() ?? swept()?.metrics ?? criMetrics?.newest()
    if (found !== undefined || host !== undefined) return found
    const sample = stats()
    return sample && fromStats(sample)
  }
  // Without cgroups an old sample does not stand for the node: the answers say that the runtime is unreachable.
  const runtimeNode = createPerSample(createRuntimeNode)
  const node = (): NodeReading | undefined => {
    if (host !== undefined) return hostSampler?.newest()?.value.node
    const sample = criStats?.fresh()
    return sample && runtimeNode(sample)
  }
  let hasWaited = false
  const isReady = (): boolean =>
    hasWaited ||
    (stats() !== undefined && metrics() !== undefined && (host === undefined || node() !== undefined))

  return {
    rows,
    switches,
    filesystems,
    async ready(waitMs) {
      for (let left = waitMs; left > 0 && !isReady(); left -= LOOK_MS) await clock.sleep(LOOK_MS)
      // Whatever is missing by now stays missing without anybody waiting for it again.
      hasWaited ||= waitMs > 0
    },
    node,
    stats,
    metrics,
    describe: () => ({
      fromCri: o.fromCri,
      stats: { source: stats()?.source ?? null, runtime: criStats?.state ?? null },
      metrics: { source: metrics()?.source ?? null, runtime: criMetrics?.state ?? null },
    }),
    async run(signal) {
      const stop = watchReconnects(o, () => {
        calls.forget()
        metricsSource.forget()
        handlers.forget()
        criStats?.probeAgain()
        criMetrics?.probeAgain()
      })
      try {
        await Promise.all([
          criStats?.run(signal),
          criMetrics?.run(signal),
          hostSampler?.run(signal),
          filesystemSampler.run(signal),
        ])
      } finally {
        stop()
      }
    },
  }
}

const usageIn = (sample: StatsSample | undefined, id: string): Usage | undefined =>
  sample?.pods.flatMap((pod) => pod.containers).find((c) => c.info.id === id)?.usage

/** An answer without any of the running containers is no answer: a node never looks empty while pods run. */
function somethingOf(inventory: Inventory, sample: StatsSample): StatsSample {
  const running = inventory.pods.reduce((n, pod) => n + pod.containers.length, 0)
  if (running > 0 && sample.missing === running)
    throw keelsonError(
      'runtime.failed',
      `call ListPodSandboxStats: the answer has nothing of ${running} running containers`,
    )
  return sample
}

function watchReconnects({ client }: Pick<StatsOptions, 'client'>, onBack: () => void): () => void {
  let wasLost = false
  return client.onState((state) => {
    if (state === 'idle' || state === 'backoff') wasLost = true
    if (state !== 'ready' || !wasLost) return
    wasLost = false
    onBack()
  })
}
