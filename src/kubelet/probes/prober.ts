// All probes of the node: one loop wakes when the next probe is due and runs what is due then, each at most once at a time.
// It learns what runs at every look at a pod, and says which pod has a new result.
import type { Probe, ProbeType } from '../../core/pod/spec/handlers.js'
import { allContainerSpecs, type PodSpec } from '../../core/pod/spec/spec.js'
import type { PodStatus } from '../../core/pod/status-json.js'
import type { Clock } from '../../ports/clock.js'
import type { Metrics } from '../../ports/metrics.js'
import type { PodEvents } from '../events/pod-events.js'
import { currentSandbox, newestOf, type ObservedPod } from '../pods/decide/observed.js'
import { Wake } from '../pods/run/wake.js'
import type { KnownBefore, PodHealth } from './decide/health.js'
import { type ProbeOutcome, probeEvent } from './decide/outcome.js'
import { takeResult } from './decide/probe-state.js'
import { createProbeMetrics } from './probe-metrics.js'
import { ProbedContainer, type ScheduledProbe } from './probed-container.js'
import { type ProbePorts, runProbe } from './run-probe.js'

interface ProberOptions extends ProbePorts {
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'counter' | 'histogram'>
  readonly events: PodEvents
  readonly hostIPs: () => readonly string[]
  readonly signal: AbortSignal
  /** From 0 to 1. */
  readonly random?: () => number
}

interface PodToProbe {
  readonly spec: PodSpec
  readonly observed: ObservedPod
  /** What the API had of the pod when this kubelet first saw it. */
  readonly before?: Partial<PodStatus> | undefined
}

export interface Prober {
  /** At every look at a pod: its probes begin with the first one. Returns what is known of its containers. */
  look(pod: PodToProbe): PodHealth
  health(uid: string): PodHealth
  /** The pod terminates: only readiness goes on. */
  onlyReadiness(uid: string): void
  remove(uid: string): void
  /** Called with the uid of a pod whenever a result that counts has changed. */
  onChange(listener: (uid: string) => void): void
  readonly done: Promise<void>
}

interface ProbedPod {
  readonly spec: PodSpec
  readonly containers: readonly ProbedContainer[]
  readonly stop: AbortController
  onlyReadiness: boolean
}

/** What is due this soon is run together: a full node wakes the loop 50 times a second at most. */
const togetherNanos = 20_000_000n
const idleNanos = 60_000_000_000n
const attempts = 3
const nothing: PodHealth = new Map()
const second = 1_000_000_000n

export function startProber(o: ProberOptions): Prober {
  const { clock, signal, random = Math.random } = o
  const pods = new Map<string, ProbedPod>()
  const series = createProbeMetrics(o.metrics)
  const wake = new Wake(clock)
  const startedNanos = clock.monotonicNanos()
  const startedWallNanos = clock.nowNanos()
  let listener: (uid: string) => void = () => undefined

  /** Spread out while the kubelet is young: after a restart all pods of the node begin at once. */
  const firstDue = ({ periodSeconds }: Probe): bigint => {
    const period = BigInt(periodSeconds) * second
    const now = clock.monotonicNanos()
    return period > now - startedNanos ? now + BigInt(Math.floor(random() * Number(period))) : now
  }

  const add = ({ spec, before }: PodToProbe): ProbedPod => {
    const { pod } = spec
    const containers = allContainerSpecs(spec)
      .filter(({ probes }) => Object.keys(probes).length > 0)
      .map(
        (container) =>
          new ProbedContainer(container, knownBefore(before, container.name), firstDue, (type) =>
            series.series({ type, container: container.name, pod }),
          ),
      )
    const added = { spec, containers, stop: new AbortController(), onlyReadiness: false }
    pods.set(pod.uid, added)
    return added
  }

  const runOne = async (pod: ProbedPod, container: ProbedContainer, one: ScheduledProbe): Promise<void> => {
    const { containerId } = container
    const began = clock.monotonicNanos()
    let outcome: ProbeOutcome = { kind: 'error', message: '' }
    for (let i = 0; i < attempts && outcome.kind === 'error' && !pod.stop.signal.aborted; i += 1)
      outcome = await runProbe(one.probe, container, o, pod.stop.signal)
    if (pod.stop.signal.aborted || container.containerId !== containerId) return
    report(pod, container, one.type, outcome)
    if (outcome.kind === 'error') return
    const result = outcome.kind === 'failure' ? 'failure' : 'success'
    one.series.count(result, Number(clock.monotonicNanos() - began) / 1e9)
    const before = one.state
    one.state = takeResult(before, one.type, one.probe, result)
    if (before.result !== one.state.result) listener(pod.spec.pod.uid)
  }

  const report = (
    { spec }: ProbedPod,
    { container }: ProbedContainer,
    type: ProbeType,
    outcome: ProbeOutcome,
  ): void => {
    const event = probeEvent(type, outcome)
    if (event !== undefined) o.events.pod(spec.pod, { type: 'Warning', ...event, container })
  }

  const start = (pod: ProbedPod, container: ProbedContainer, one: ScheduledProbe): void => {
    if (!container.isDue(one, clock.nowNanos())) return
    if (one.isRunning) {
      one.again = true
      return
    }
    one.isRunning = true
    const run = runOne(pod, container, one).finally(() => {
      one.isRunning = false
      if (!one.again) return
      one.again = false
      one.dueNanos = clock.monotonicNanos()
      wake.notify()
    })
    keep(run)
  }

  const running = new Set<Promise<void>>()
  let failed: { readonly error: unknown } | undefined
  const stop = new AbortController()
  const keep = (work: Promise<void>): void => {
    const kept: Promise<void> = work
      .catch((error: unknown) => {
        failed ??= { error }
        stop.abort()
      })
      .finally(() => running.delete(kept))
    running.add(kept)
  }

  /** Runs what is due; returns when the next probe is. */
  const runDue = (): bigint => {
    const now = clock.monotonicNanos()
    let next = now + idleNanos
    for (const pod of pods.values())
      for (const container of pod.containers)
        for (const one of container.probes) {
          if (pod.onlyReadiness && one.type !== 'readiness') continue
          if (one.dueNanos <= now + togetherNanos) {
            const period = BigInt(one.probe.periodSeconds) * second
            // Ticks that were missed are not made up for.
            one.dueNanos = one.dueNanos + period > now ? one.dueNanos + period : now + period
            start(pod, container, one)
          }
          if (one.dueNanos < next) next = one.dueNanos
        }
    return next
  }

  const loop = async (): Promise<void> => {
    const ended = AbortSignal.any([signal, stop.signal])
    while (!ended.aborted) await wake.sleep(runDue(), ended)
    for (const { stop: end } of pods.values()) end.abort()
    while (running.size > 0) await Promise.all([...running])
    if (failed !== undefined) throw failed.error
  }

  const health = (uid: string): PodHealth => {
    const containers = pods.get(uid)?.containers
    if (containers === undefined || containers.length === 0) return nothing
    return new Map(
      containers.flatMap((container) => {
        const known = container.health()
        return known === undefined ? [] : [[container.containerId, known] as const]
      }),
    )
  }

  return {
    look(given) {
      const { uid } = given.spec.pod
      const isNew = !pods.has(uid)
      const pod = pods.get(uid) ?? add(given)
      if (pod.containers.length === 0) return nothing
      const { observed, spec } = given
      const [podIP = ''] = spec.hostNetwork ? o.hostIPs() : (currentSandbox(observed)?.ips ?? [])
      let isSooner = isNew
      for (const container of pod.containers) {
        container.observe(newestOf(observed, container.container.name), podIP, startedWallNanos)
        const waiting = container.awaitsReadiness
        if (waiting === undefined) continue
        waiting.dueNanos = clock.monotonicNanos()
        isSooner = true
      }
      if (isSooner) wake.notify()
      return health(uid)
    },
    health,
    onlyReadiness(uid) {
      const pod = pods.get(uid)
      if (pod !== undefined) pod.onlyReadiness = true
    },
    remove(uid) {
      const pod = pods.get(uid)
      pods.delete(uid)
      pod?.stop.abort()
      for (const { probes } of pod?.containers ?? []) for (const one of probes) one.series.remove()
    },
    onChange(to) {
      listener = to
    },
    done: loop(),
  }
}

function knownBefore(status: Partial<PodStatus> | undefined, name: string): KnownBefore | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const found = all.find((container) => container.name === name)
  if (status === undefined || found === undefined) return undefined
  return { started: found.started, ready: found.ready }
}
