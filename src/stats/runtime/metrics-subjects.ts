// Whose metrics the runtime's answer has: listed pods and containers, with what is read beside the answer for each of them.
import type { Metric } from '../../cri-api/api.js'
import type { PodMetrics } from '../../ports/runtime.js'
import { familyOf } from '../catalogue/index.js'
import type { CgroupValues } from '../cgroup/container-stats.js'
import type { NetworkValues } from '../collectors/network.js'
import { containerLabels, type LabelSet, type LabelSets, podLabels } from '../render/label-set.js'
import type { Switches } from '../render/series-writer.js'
import { type KernelSeries, kernelSeries } from '../repair/kernel-series.js'
import type { Repair } from '../repair/repairs.js'
import type { PodSample, StatsSample } from '../sample.js'
import type { Descriptors, LabelFixes } from './descriptors.js'
import { type ExactCpu, type ExactValue, exactValues } from './exact-values.js'
import type { Inventory, PodInfo } from './inventory.js'

export interface CriMetricsInput extends LabelFixes {
  readonly metrics: readonly PodMetrics[]
  readonly descriptors: Descriptors
  readonly inventory: Inventory
  readonly labelSets: LabelSets
  readonly switches: Switches
  readonly receivedNanos: bigint
  /** The runtime's stats, where they are in use too: they have nanoseconds and pod-level values. */
  readonly stats: StatsSample | undefined
  readonly exactCpu: (containerId: string) => ExactCpu | undefined
  readonly cgroupPath: (id: string) => string | undefined
  readonly hasHostNetwork: (pod: PodInfo) => boolean
  /** The rules about wrong values, with what the kernel has. */
  readonly repair: Repair
  readonly kernel: (id: string) => CgroupValues | undefined
  readonly networkOf: (pod: PodInfo) => NetworkValues | undefined
}

/** A listed pod or container that the runtime's answer has metrics of. */
export interface Subject {
  readonly labels: LabelSet
  readonly metrics: Iterable<Metric>
  readonly createdAtNanos: bigint
  readonly exact: ReadonlyMap<string, ExactValue> | undefined
  readonly includes: (metric: Metric) => boolean
  /** Fills what the metrics leave out. */
  readonly sample: PodSample | undefined
  /** Read once, and only when a value looks wrong. */
  readonly kernel: () => KernelSeries
  /** Stands in for network metrics that are not the pod's. */
  readonly network: NetworkValues | undefined
}

export interface Subjects {
  /** Those with the same labels together: their series must not repeat each other. */
  readonly byLabels: ReadonlyMap<string, readonly Subject[]>
  /** Listed containers that the answer has nothing of. */
  readonly missing: number
}

const includesAll = (): boolean => true

const isOfNetwork = ({ name }: Metric): boolean => familyOf(name)?.group === 'network'

function hasNetwork(metrics: Iterable<Metric>): boolean {
  for (const metric of metrics) if (isOfNetwork(metric)) return true
  return false
}

/** Undefined: the runtime's network metrics stay. `own` undefined: they are wrong, and there are none to replace them. */
function otherNetwork(
  pod: PodInfo,
  metrics: Iterable<Metric>,
  { repair, networkOf }: CriMetricsInput,
): { readonly own: NetworkValues | undefined } | undefined {
  // The namespace is read only behind a runtime that is known to count another one.
  if (!repair.hasDefect('node-network-counted') || !hasNetwork(metrics)) return undefined
  repair.note('container_network', 'node-network-counted')
  return { own: networkOf(pod) }
}

/** What is read beside the runtime's metrics, as exact CPU time, is read here, and once. */
export function findSubjects(input: CriMetricsInput): Subjects {
  const { labelSets, switches, inventory } = input
  const answered = new Map(input.metrics.map((m) => [m.podSandboxId, m]))
  const stats = new Map((input.stats?.pods ?? []).map((p) => [p.info.sandboxId, p]))
  const byLabels = new Map<string, Subject[]>()
  let missing = 0
  const put = (subject: Subject): void => {
    const block = subject.labels.block(undefined)
    const known = byLabels.get(block)
    if (known === undefined) byLabels.set(block, [subject])
    else known.push(subject)
  }
  for (const pod of inventory.pods) {
    const answer = answered.get(pod.sandboxId)
    if (answer === undefined) {
      missing += pod.containers.length
      continue
    }
    const sample = stats.get(pod.sandboxId)
    const onHost = input.hasHostNetwork(pod)
    const other = onHost ? undefined : otherNetwork(pod, answer.metrics, input)
    const keepsNetwork = !onHost && other === undefined
    put({
      labels: podLabels(labelSets, pod, input.cgroupPath(pod.sandboxId) ?? ''),
      metrics: answer.metrics,
      createdAtNanos: pod.createdAtNanos,
      exact: undefined,
      includes: (metric) => (isOfNetwork(metric) ? keepsNetwork : switches.rows.pods),
      sample: switches.rows.pods ? sample : undefined,
      kernel: kernelSeries(() => input.kernel(pod.sandboxId)),
      network: other?.own,
    })
    const containers = new Map(answer.containerMetrics.map((c) => [c.containerId, c.metrics]))
    for (const info of pod.containers) {
      const metrics = containers.get(info.id)
      if (metrics === undefined) {
        missing++
        continue
      }
      const usage = sample?.containers.find((c) => c.info.id === info.id)?.usage
      put({
        labels: containerLabels(labelSets, pod, info, input.cgroupPath(info.id) ?? ''),
        metrics,
        createdAtNanos: info.createdAtNanos,
        exact: exactValues(usage, input.exactCpu(info.id)),
        includes: includesAll,
        sample: undefined,
        kernel: kernelSeries(() => input.kernel(info.id)),
        network: undefined,
      })
    }
  }
  return { byLabels, missing }
}
