// The runtime's own metrics joined with ours: its values stay, with the labels that consumers select on; missing series
// are added; known defects are fixed.
import type { ContainerMetrics, Metric, MetricDescriptor, PodSandboxMetrics } from '../../cri-api/api.js'
import type { Family } from '../../stats/catalogue/family.js'
import { familyOf } from '../../stats/catalogue/index.js'
import { alwaysFamilies } from '../../stats/catalogue/times-and-limits.js'
import {
  containerLabels,
  createLabelSet,
  type LabelSet,
  type LabelSets,
  podLabels,
} from '../../stats/render/label-set.js'
import { type Series, seriesKey } from '../../stats/render/series.js'
import type { Repair } from '../../stats/repair/repairs.js'
import {
  commonLabelsOf,
  type Described,
  describeAll,
  extraLabelsOf,
  type LabelFixes,
} from '../../stats/runtime/descriptors.js'
import type { NodeView } from '../stats/node-view.js'
import { descriptorOf } from './messages.js'
import {
  hasFixedRows,
  hasOtherNetwork,
  isCpuRow,
  isRootDevice,
  isWithoutQuota,
  kernelOf,
} from './repair-series.js'
import type { PodSeries } from './series.js'

/** Descriptors of the runtime for other families stay as they are; for our families the labels are ours. */
export function mergeDescriptors(
  given: readonly MetricDescriptor[],
  ours: readonly Family[],
): MetricDescriptor[] {
  const own = new Map(ours.map((f) => [f.name, f]))
  const merged = given.map((d) => {
    const family = own.get(d.name) ?? familyOf(d.name)
    own.delete(d.name)
    return family === undefined ? d : descriptorOf(family)
  })
  return [...merged, ...[...own.values()].map(descriptorOf)]
}

interface MergeInput extends LabelFixes {
  readonly descriptors: readonly MetricDescriptor[]
  readonly metrics: readonly PodSandboxMetrics[]
  readonly ours: readonly PodSeries[]
  readonly view: NodeView
  readonly labelSets: LabelSets
  readonly repair: Repair
}

interface Merged {
  readonly pods: readonly PodSeries[]
  /** Metrics of names that we do not know, by the id of their sandbox or container. */
  readonly others: ReadonlyMap<string, readonly Metric[]>
}

/** A start after the year 33658 is one in nanoseconds. */
const latestSeconds = 1_000_000_000_000n
const nanos = 1_000_000_000n

export function mergeMetrics(input: MergeInput): Merged {
  const { view, labelSets, repair } = input
  const described = describeAll(input.descriptors)
  const others = new Map<string, Metric[]>()
  const given = new Map(input.metrics.map((m) => [m.podSandboxId, m]))

  function toSeries(metric: Metric, { labelCount, extra }: Described, family: Family, labels: LabelSet) {
    if (metric.value === undefined || metric.labelValues.length !== labelCount) return undefined
    const isStart = family === alwaysFamilies.container_start_time_seconds
    const isNanos =
      isStart && metric.value.value >= latestSeconds && repair.hasDefect('start-time-in-nanoseconds')
    if (isNanos) repair.note(family.name, 'start-time-in-nanoseconds')
    const value = isNanos ? metric.value.value / nanos : metric.value.value
    const series: Series = {
      family,
      labels,
      extra: extraLabelsOf({ family, extra }, metric.labelValues, input),
      value: value * 10n ** BigInt(family.decimals),
      timeNanos: metric.timestamp,
    }
    return series
  }

  /** The runtime's metrics as series. Names that are not in our catalogue are kept for the RPC. */
  function readMetrics(
    key: string,
    metrics: readonly Metric[],
    labels: LabelSet,
    own: readonly Series[],
  ): Series[] {
    return metrics.flatMap((metric) => {
      const family = familyOf(metric.name)
      const about = described.get(metric.name)
      if (family === undefined || about === undefined) {
        others.set(key, [...(others.get(key) ?? []), metric])
        return []
      }
      const hasLabels = family.extraLabels.every(
        (label) => about.extra.some(([, name]) => name === label) || label === 'cpu',
      )
      const series = toSeries(metric, about, family, labels)
      // Without the labels that tell its series apart, ours are the only usable ones.
      return series === undefined || (!hasLabels && own.some((s) => s.family === family)) ? [] : [series]
    })
  }

  function join(key: string, metrics: readonly Metric[], labels: LabelSet, own: readonly Series[]): Series[] {
    const given = readMetrics(key, metrics, labels, own)
    const left = new Map(own.map((s) => [seriesKey(s), s]))
    const kernel = kernelOf(own)
    const isOther = hasOtherNetwork(given, own, repair)
    const families = new Set<string>()
    const joined: Series[] = []
    for (const series of given) {
      const { family } = series
      if (isOther && family.group === 'network') {
        repair.note(family.name, 'node-network-counted')
        continue
      }
      if (isCpuRow(series) && kernel.has(family) && repair.hasDefect('cpu-rows')) {
        repair.note(family.name, 'cpu-rows')
        continue
      }
      if (isWithoutQuota(series, kernel) && repair.hasDefect('throttling-without-quota')) {
        repair.note(family.name, 'throttling-without-quota')
        continue
      }
      if (isRootDevice(series) && kernel.has(family) && repair.hasDefect('root-as-device')) {
        repair.note(family.name, 'root-as-device')
        continue
      }
      const exact = left.get(seriesKey(series))
      left.delete(seriesKey(series))
      families.add(family.name)
      if (family.decimals > 0 && exact !== undefined) joined.push(exact)
      else {
        const value = repair.value(family.name, series.value, () => kernel.values(exact))
        if (value !== undefined) joined.push(value === series.value ? series : { ...series, value })
      }
    }
    // A family that the runtime fills is complete: devices or interfaces that it leaves out are left out on purpose.
    return [...joined, ...[...left.values()].filter((s) => hasFixedRows(s) || !families.has(s.family.name))]
  }

  /** Of pods that only the runtime has values of: in a virtual machine, or removed since. */
  function runtimeOnly(kind: LabelSet['kind'], id: string, metrics: readonly Metric[]): Series[] {
    const [first] = metrics
    const about = described.get(first?.name ?? '')
    const labels = about === undefined ? {} : commonLabelsOf(about, first?.labelValues ?? [])
    const place = { container: '', id: '', image: '', namespace: '', pod: '', ...labels }
    return join(id, metrics, createLabelSet(kind, { ...place, name: kind === 'container' ? id : '' }), [])
  }

  const runtimeOnlyContainers = (all: readonly ContainerMetrics[]): [string, Series[]][] =>
    all.map((c) => [c.containerId, runtimeOnly('container', c.containerId, c.metrics)])

  const known = new Set(input.ours.map((pod) => pod.podSandboxId))
  const runtimeOnlyPods = input.metrics
    .filter((pod) => !known.has(pod.podSandboxId))
    .map(
      ({ podSandboxId, metrics, containerMetrics }): PodSeries => ({
        podSandboxId,
        pod: runtimeOnly('pod', podSandboxId, metrics),
        containers: new Map(runtimeOnlyContainers(containerMetrics)),
      }),
    )

  const pods = input.ours.map((pod): PodSeries => {
    const answer = given.get(pod.podSandboxId)
    const sample = view.pod(pod.podSandboxId)
    if (answer === undefined || sample === undefined) return pod
    const containers = new Map(answer.containerMetrics.map((c) => [c.containerId, c.metrics]))
    const { info } = sample
    const podPath = pod.pod[0]?.labels.values.id ?? ''
    return {
      podSandboxId: pod.podSandboxId,
      pod: join(pod.podSandboxId, answer.metrics, podLabels(labelSets, info, podPath), pod.pod),
      containers: new Map([
        ...[...pod.containers].map(([id, own]): [string, readonly Series[]] => {
          const about = info.containers.find((c) => c.id === id)
          const metrics = containers.get(id)
          if (about === undefined || metrics === undefined) return [id, own]
          const path = own[0]?.labels.values.id ?? ''
          return [id, join(id, metrics, containerLabels(labelSets, info, about, path), own)]
        }),
        ...runtimeOnlyContainers(answer.containerMetrics.filter((c) => !pod.containers.has(c.containerId))),
      ]),
    }
  })
  return { pods: [...pods, ...runtimeOnlyPods], others }
}
