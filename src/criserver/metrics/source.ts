// What the RPC and the endpoint of metrics are made from: our series, joined with the runtime's where it has its own.
import type { Metric, MetricDescriptor, PodSandboxMetrics } from '../../cri-api/api.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import type { Family } from '../../stats/catalogue/family.js'
import { createLabelSets } from '../../stats/render/label-set.js'
import { decideSwitches } from '../../stats/render/series-writer.js'
import type { Repair } from '../../stats/repair/repairs.js'
import { isUnimplemented } from '../../stats/runtime/calls.js'
import type { Values } from '../stats/read-values.js'
import { fillableFamilies, readAbilities } from './fillable.js'
import { mergeMetrics } from './merge.js'
import { collectSeries, type LaterPodSeries } from './series.js'

export interface MetricsSource {
  /** Families that this node can fill. */
  families(signal: AbortSignal): Promise<readonly Family[]>
  /** The runtime's own descriptors. Undefined: it has none. */
  upstreamDescriptors(signal: AbortSignal): Promise<readonly MetricDescriptor[] | undefined>
  /** Undefined: the runtime has no metrics. */
  upstreamMetrics(signal: AbortSignal): Promise<readonly PodSandboxMetrics[] | undefined>
  collect(
    upstream: readonly PodSandboxMetrics[] | undefined,
    repair: Repair,
    signal: AbortSignal,
  ): Promise<CollectedMetrics>
}

export interface CollectedMetrics {
  readonly pods: readonly LaterPodSeries[]
  /** Metrics of the runtime that we have no family for, by the id of their sandbox or container. */
  readonly others: ReadonlyMap<string, readonly Metric[]>
  /** Pods whose values only the runtime has. */
  readonly hasOpaque: boolean
}

interface MetricsSourceOptions {
  readonly client: CriClient
  readonly values: Values
  readonly cgroups: CgroupTree
  readonly procfs: Pick<Procfs, 'pressure'>
}

const listTimeoutMs = 5_000
/** containerd takes ten seconds for 110 pods. */
const metricsTimeoutMs = 30_000

export function createMetricsSource({
  client,
  values,
  cgroups,
  procfs,
}: MetricsSourceOptions): MetricsSource {
  const labelSets = createLabelSets()
  const switches = decideSwitches()
  /** Null: it was asked and has none. Forgotten when the connection is lost. */
  let descriptors: readonly MetricDescriptor[] | null | undefined
  client.onState((state) => {
    if (state !== 'ready') descriptors = undefined
  })

  async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (e) {
      if (isUnimplemented(e)) return undefined
      throw e
    }
  }

  async function upstreamDescriptors(signal: AbortSignal): Promise<readonly MetricDescriptor[] | undefined> {
    if (descriptors === undefined) {
      const options = { timeoutMs: listTimeoutMs, signal }
      const answer = await unlessMissing(client.runtime.listMetricDescriptors({}, options))
      descriptors = answer?.descriptors ?? null
    }
    return descriptors ?? undefined
  }

  return {
    async families(signal) {
      // A look asks the runtime for layers, which says whether it has any.
      await values.look(signal)
      return fillableFamilies(readAbilities(cgroups, procfs, values.hasLayers), switches)
    },
    upstreamDescriptors,
    async upstreamMetrics(signal) {
      if ((await upstreamDescriptors(signal)) === undefined) return undefined
      const options = { timeoutMs: metricsTimeoutMs, signal }
      return (await unlessMissing(client.runtime.listPodSandboxMetrics({}, options)))?.podMetrics
    },
    async collect(upstream, repair, signal) {
      const view = await values.look(signal)
      // Those of containers that have gone since the last time.
      labelSets.sweep()
      const ours = collectSeries(view, { labelSets, switches })
      const declared = upstream === undefined ? undefined : await upstreamDescriptors(signal)
      const { hasOpaque } = view
      if (upstream === undefined || declared === undefined)
        return { pods: ours, others: new Map(), hasOpaque }
      const { pods, others } = mergeMetrics({
        descriptors: declared,
        metrics: upstream,
        ours: ours.map((collect) => collect()),
        view,
        labelSets,
        repair,
        deviceName: (numbers) => values.deviceName(numbers),
      })
      return { pods: pods.map((pod) => () => pod), others, hasOpaque }
    },
  }
}
