// Series and families as CRI's messages. Values are whole numbers there, so seconds lose their fractions.
import { type Metric, type MetricDescriptor, MetricType, type PodSandboxMetrics } from '../../cri-api/api.js'
import type { PodMetrics } from '../../ports/runtime.js'
import type { Family } from '../../stats/catalogue/family.js'
import { criValue } from '../../stats/render/exposition.js'
import { commonLabelKeys, type LabelSet } from '../../stats/render/label-set.js'
import type { Series } from '../../stats/render/series.js'
import type { PodSeries } from './series.js'

export const descriptorOf = ({ name, help, extraLabels }: Family): MetricDescriptor => ({
  name,
  help,
  labelKeys: [...commonLabelKeys, ...extraLabels],
})

/** Made once for each label set, which outlives samples; most metrics have no other labels, and share it. */
const commonValues = new WeakMap<LabelSet, string[]>()

function labelValues({ labels, extra, family }: Series): string[] {
  const common = commonValues.get(labels) ?? commonLabelKeys.map((key) => labels.values[key])
  commonValues.set(labels, common)
  if (family.extraLabels.length === 0) return common
  const given = new Map(extra?.pairs ?? [])
  return [...common, ...family.extraLabels.map((key) => given.get(key) ?? '')]
}

const metricOf = (series: Series): Metric => ({
  name: series.family.name,
  timestamp: series.timeNanos,
  metricType: series.family.type === 'counter' ? MetricType.COUNTER : MetricType.GAUGE,
  labelValues: labelValues(series),
  value: { value: criValue(series.value, series.family.decimals) },
})

export const podMetricsOf = ({ podSandboxId, pod, containers }: PodSeries): PodSandboxMetrics => ({
  podSandboxId,
  metrics: pod.map(metricOf),
  containerMetrics: [...containers].map(([containerId, series]) => ({
    containerId,
    metrics: series.map(metricOf),
  })),
})

/** For a reader in this process. Each metric is made when it is read: as objects those of a whole node take much memory. */
export function laterPodMetrics(
  { podSandboxId, pod, containers }: PodSeries,
  others: ReadonlyMap<string, readonly Metric[]>,
): PodMetrics {
  const metricsOf = (id: string, series: readonly Series[]): Iterable<Metric> => ({
    *[Symbol.iterator]() {
      for (const one of series) yield metricOf(one)
      yield* others.get(id) ?? []
    },
  })
  return {
    podSandboxId,
    metrics: metricsOf(podSandboxId, pod),
    containerMetrics: [...containers].map(([containerId, series]) => ({
      containerId,
      metrics: metricsOf(containerId, series),
    })),
  }
}
