// The two feeds of a runtime that gives stats and metrics (gate PodAndContainerStatsFromCRI). Metrics are joined with the
// stats of the same runtime, so the stats feed comes first.
import { keelsonError } from '../../core/errors.js'
import { type CgroupValues, networkUsage, usageFrom } from '../cgroup/container-stats.js'
import type { HostSource } from '../cgroup/host-source.js'
import { createCpuHistory } from '../cpu-rate.js'
import type { Pace } from '../pace.js'
import type { LabelSets } from '../render/label-set.js'
import type { Switches } from '../render/series-writer.js'
import type { Repair } from '../repair/repairs.js'
import type { MetricsSample, StatsSample } from '../sample.js'
import type { Usage } from '../usage.js'
import type { RuntimeCalls } from './calls.js'
import { createRuntimeFeed, type RuntimeFeed, type RuntimeFeedOptions, rejectEmptySample } from './feed.js'
import type { Inventory, InventoryCache, PodInfo } from './inventory.js'
import { type LookHere, localMetrics, localStats } from './local-look.js'
import { createCriMetricsSource } from './metrics-source.js'
import { criStatsSample } from './stats.js'

export interface RuntimeFeeds {
  readonly stats: RuntimeFeed<StatsSample>
  readonly metrics: RuntimeFeed<MetricsSample>
  /** Called after each failure of either: cgroups have to be read now. */
  onFailure(listener: () => void): void
  /** The runtime was restarted: everything that was learnt about it is asked for again. */
  forget(): void
}

interface RuntimeFeedsOptions extends Omit<RuntimeFeedOptions<never>, 'endpoint' | 'hasCgroups' | 'read'> {
  readonly metricsPace: Pace
  readonly calls: RuntimeCalls
  readonly inventory: InventoryCache
  /** Undefined: the node has no cgroups. */
  readonly host: HostSource | undefined
  readonly labelSets: LabelSets
  readonly switches: Switches
  readonly deviceName: (majorMinor: string) => string | undefined
  /** The rules about wrong values for the runtime that is connected. */
  readonly findRepair: (signal: AbortSignal) => Promise<Repair>
  /** Of a CRI server in this process. */
  readonly lookHere: LookHere | undefined
  /** Whether asking for stats can end that runtime. */
  readonly isHarmful: () => boolean
}

/** Without a rate: that comes from the runtime's own two samples. */
const usageOf = (values: CgroupValues | undefined): Usage | undefined =>
  values && usageFrom(values, undefined)

const notAsked =
  'ListPodSandboxStats is not called: it can end this runtime (defect panic-without-cgroup); put `keelson cri` in between'

const noCgroups = { exactCpu: () => undefined, cgroupPath: () => undefined } as const

export function createRuntimeFeeds(o: RuntimeFeedsOptions): RuntimeFeeds {
  const { calls, host, clock, counters } = o
  const common = {
    clock,
    log: o.log,
    counters,
    periodMs: o.periodMs,
    pace: o.pace,
    hasCgroups: host !== undefined,
  }
  const nowNanos = (): bigint => clock.nowNanos()
  const history = createCpuHistory()
  const hasHostNetwork = (pod: PodInfo): boolean => host?.hasHostNetwork(pod) === true

  async function listPods(signal: AbortSignal): Promise<Inventory> {
    const inventory = await o.inventory.refresh(signal)
    host?.locator.refresh(inventory)
    return inventory
  }

  const stats = createRuntimeFeed<StatsSample>({
    ...common,
    endpoint: 'stats',
    async read(signal) {
      const here = await o.lookHere?.()
      if (here !== undefined) return localStats(here)
      if (host !== undefined && o.isHarmful()) throw keelsonError('runtime.unimplemented', notAsked)
      const answer = await calls.podStats(signal)
      const receivedNanos = nowNanos()
      const inventory = await listPods(signal)
      const values = host?.valuesOf(inventory)
      const sample = criStatsSample(answer, inventory, history, receivedNanos, hasHostNetwork, {
        repair: await o.findRepair(signal),
        usage: (id) => usageOf(values?.(id)),
        network(pod) {
          const own = host?.networkOf(pod)
          return own && networkUsage(own, receivedNanos)
        },
      })
      rejectEmptySample('ListPodSandboxStats', inventory, sample)
      return sample
    },
  })
  const metricsSource = createCriMetricsSource({
    calls,
    nowNanos,
    onDropped: (dropped) => counters.dropped(dropped),
    async joinContext(signal) {
      const inventory = await listPods(signal)
      return {
        inventory,
        labelSets: o.labelSets,
        switches: o.switches,
        deviceName: o.deviceName,
        hasHostNetwork,
        stats: stats.current(),
        repair: await o.findRepair(signal),
        kernel: host?.valuesOf(inventory) ?? (() => undefined),
        networkOf: (pod: PodInfo) => host?.networkOf(pod),
        ...(host?.cgroupsOf(inventory) ?? noCgroups),
      }
    },
  })
  const metrics = createRuntimeFeed<MetricsSample>({
    ...common,
    pace: o.metricsPace,
    endpoint: 'metrics',
    async read(signal) {
      const here = await o.lookHere?.()
      return here === undefined ? await metricsSource.read(signal) : localMetrics(here, o)
    },
  })
  return {
    stats,
    metrics,
    onFailure(listener) {
      stats.onFailure(listener)
      metrics.onFailure(listener)
    },
    forget() {
      metricsSource.forget()
      stats.probeAgain()
      metrics.probeAgain()
    },
  }
}
