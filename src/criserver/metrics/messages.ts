// Series and families as CRI's messages. Values are whole numbers there, so seconds lose their fractions.
import { type Metric, type MetricDescriptor, MetricType, type PodSandboxMetrics } from '../../cri-api/api.js'
import type { Family } from '../../stats/catalogue/family.js'
import { criValue } from '../../stats/render/exposition.js'
import { commonLabelKeys } from '../../stats/render/label-set.js'
import type { PodSeries, Series } from './series.js'

export const descriptorOf = ({ name, help, extraLabels }: Family): MetricDescriptor => ({
  name,
  help,
  labelKeys: [...commonLabelKeys, ...extraLabels],
})

function labelValues({ labels, extra, family }: Series): string[] {
  const given = new Map(extra?.pairs ?? [])
  return [
    ...commonLabelKeys.map((key) => labels.values[key]),
    ...family.extraLabels.map((key) => given.get(key) ?? ''),
  ]
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
