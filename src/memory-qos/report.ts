// What a pass says to the outside: the KEP's and upstream's metrics, our own counts, an event when a container is throttled
// for the first time, and each finding once in the log.
import type { Finding } from '../core/memory-qos/findings.js'
import type { MemoryTarget, PodRef } from '../core/memory-qos/targets.js'
import type { Log } from '../ports/log.js'
import type { Labels, Metrics } from '../ports/metrics.js'
import { countThrottle, type ThrottleCount } from './decide/throttle-count.js'
import type { PassReport } from './engine.js'
import type { Observation } from './observe-pods.js'

export interface MemoryQosEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: 'MemoryThrottled' | 'MemoryQoSDrift'
  readonly message: string
  /** Undefined: about the node. */
  readonly pod: PodRef | undefined
}

export interface ReporterOptions {
  readonly metrics: Metrics
  readonly log: Log
  readonly event: (event: MemoryQosEvent) => void
}

interface Series {
  readonly labels: Labels
  throttle: ThrottleCount | undefined
}

const keyOf = (labels: Labels): string => Object.values(labels).join('\0')

/** `max` has no number, and a series that lies is worse than none. */
const amount = (text: string | undefined): number | undefined =>
  text === undefined || text === 'max' ? undefined : Number(text)

export class MemoryQosReporter {
  private readonly series = new Map<string, Series>()
  private passes = 0

  private readonly min
  private readonly high
  private readonly throttled
  private readonly nodeMin
  private readonly nodeLow
  private readonly writes
  private readonly findings
  private readonly failures
  private shownFindings: ReadonlySet<string> = new Set()
  private countedFindings: readonly string[] = []

  constructor(private readonly options: ReporterOptions) {
    const { metrics } = options
    const labels = ['namespace', 'pod', 'container']
    this.min = metrics.gauge(
      'kubelet_memory_qos_memory_min_bytes',
      'memory.min of the container as the kernel holds it.',
      labels,
    )
    this.high = metrics.gauge(
      'kubelet_memory_qos_memory_high_bytes',
      'memory.high of the container as the kernel holds it; absent without one.',
      labels,
    )
    this.throttled = metrics.counter(
      'kubelet_memory_qos_throttle_events_total',
      'Times that the container was throttled at memory.high, over its restarts.',
      labels,
    )
    this.nodeMin = metrics.gauge(
      'kubelet_memory_qos_node_memory_min_bytes',
      'Memory requests that are protected by memory.min.',
    )
    this.nodeLow = metrics.gauge(
      'kubelet_memory_qos_node_memory_low_bytes',
      'Memory requests that are protected by memory.low.',
    )
    this.writes = metrics.counter(
      'keelson_memory_qos_changes_total',
      'Control files written, and containers updated through the runtime.',
      ['through'],
    )
    this.failures = metrics.counter(
      'keelson_memory_qos_failures_total',
      'Cgroups and containers that a pass could not bring to their values.',
    )
    this.findings = metrics.gauge('keelson_memory_qos_findings', 'Findings of the newest pass, by kind.', [
      'finding',
    ])
  }

  take(report: PassReport, findings: readonly Finding[] = report.findings): void {
    const containers = report.observed.filter((o) => o.containerId !== undefined)
    const keysOf = (targets: readonly MemoryTarget[]): ReadonlySet<string> =>
      new Set(targets.filter((t) => t.container !== undefined).map((t) => keyOf(labelsOf(t))))
    for (const o of containers) this.takeContainer(o, labelsOf(o.target))
    this.forget(keysOf(report.plan.targets), keysOf(containers.map((o) => o.target)))
    const { gauges } = report.plan.node
    if (gauges !== undefined) {
      this.nodeMin.set(Number(gauges.kubelet_memory_qos_node_memory_min_bytes))
      this.nodeLow.set(Number(gauges.kubelet_memory_qos_node_memory_low_bytes))
    }
    if (report.writes > 0) this.writes.inc({ through: 'cgroup' }, report.writes)
    if (report.calls > 0) this.writes.inc({ through: 'runtime' }, report.calls)
    if (report.failures > 0) this.failures.inc({}, report.failures)
    this.takeFindings(findings)
    this.passes += 1
  }

  private takeContainer(o: Observation, labels: Labels): void {
    const key = keyOf(labels)
    const min = amount(o.files['memory.min'])
    if (min !== undefined) this.min.set(min, labels)
    const high = amount(o.files['memory.high'])
    if (high !== undefined) this.high.set(high, labels)
    else this.high.remove(labels)
    const series = this.series.get(key) ?? { labels, throttle: undefined }
    this.series.set(key, series)
    if (o.highEvents === undefined || o.containerId === undefined) return
    const step = countThrottle(series.throttle, o.containerId, o.highEvents)
    series.throttle = step.next
    this.throttled.inc(labels, Number(step.added))
    // What happened before this process started is in the counter; it is no news.
    if (step.first && this.passes > 0) this.tellThrottled(o)
  }

  private tellThrottled(o: Observation): void {
    const { container, pod } = o.target
    this.options.event({
      type: 'Warning',
      reason: 'MemoryThrottled',
      message: `container ${container?.name ?? ''} reached its memory.high of ${o.files['memory.high'] ?? 'max'} bytes and is slowed down; raise its memory limit, or set memoryThrottlingFactor to 1.0`,
      pod,
    })
  }

  /** A container between two instances, also in back-off, keeps its count; its values are gone with its cgroup. */
  private forget(planned: ReadonlySet<string>, running: ReadonlySet<string>): void {
    for (const [key, { labels }] of this.series) {
      if (running.has(key)) continue
      this.min.remove(labels)
      this.high.remove(labels)
      if (planned.has(key)) continue
      this.series.delete(key)
      this.throttled.remove(labels)
    }
  }

  private takeFindings(findings: readonly Finding[]): void {
    const counts = new Map<string, number>()
    for (const { id } of findings) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const finding of this.countedFindings) if (!counts.has(finding)) this.findings.remove({ finding })
    for (const [finding, count] of counts) this.findings.set(count, { finding })
    this.countedFindings = [...counts.keys()]
    const now = new Set<string>()
    for (const finding of findings) {
      const key = `${finding.id}\0${finding.subject}`
      now.add(key)
      if (this.shownFindings.has(key)) continue
      const { id, subject, remedy } = finding
      this.options.log.warn(`Memory QoS: ${finding.message}`, { id, subject, remedy })
      if (id === 'drift')
        this.options.event({
          type: 'Warning',
          reason: 'MemoryQoSDrift',
          message: `${subject}: ${finding.message}; ${remedy}`,
          pod: undefined,
        })
    }
    this.shownFindings = now
  }
}

const labelsOf = ({ pod, container }: MemoryTarget): Labels => ({
  namespace: pod?.namespace ?? '',
  pod: pod?.name ?? '',
  container: container?.name ?? '',
})
