// One container with probes: which instance of it runs, and what each of its probes has found.
import { type Probe, type ProbeType, probeTypes } from '../../core/pod/spec/handlers.js'
import type { ContainerSpec } from '../../core/pod/spec/spec.js'
import type { ObservedContainer } from '../pods/decide/observed.js'
import { type ContainerHealth, containerHealth, type KnownBefore } from './decide/health.js'
import { isProbeDue, meetContainer, noContainer, type ProbeState } from './decide/probe-state.js'
import type { ProbeSeries } from './probe-metrics.js'

export interface ScheduledProbe {
  readonly type: ProbeType
  readonly probe: Probe
  readonly series: ProbeSeries
  state: ProbeState
  /** By the monotonic clock. */
  dueNanos: bigint
  isRunning: boolean
  /** It was due while it ran: run it again at once. */
  again: boolean
}

/** Older than this at the start of the kubelet: its predecessor started it. */
const inheritedAgeNanos = 10_000_000_000n

export class ProbedContainer {
  readonly probes: readonly ScheduledProbe[]
  private instance: ObservedContainer | undefined
  podIP = ''

  constructor(
    readonly container: ContainerSpec,
    private readonly before: KnownBefore | undefined,
    dueNanos: (probe: Probe) => bigint,
    series: (type: ProbeType) => ProbeSeries,
  ) {
    this.probes = probeTypes.flatMap((type): ScheduledProbe[] => {
      const probe = container.probes[type]
      if (probe === undefined) return []
      return [
        {
          type,
          probe,
          series: series(type),
          state: noContainer,
          dueNanos: dueNanos(probe),
          isRunning: false,
          again: false,
        },
      ]
    })
  }

  get containerId(): string {
    return this.instance?.id ?? ''
  }

  /** The newest instance; times by the wall clock. */
  observe(instance: ObservedContainer | undefined, podIP: string, kubeletStartNanos: bigint): void {
    this.podIP = podIP
    const isNew = instance !== undefined && instance.id !== this.instance?.id
    this.instance = instance
    if (!isNew) return
    const inherited =
      instance.state === 'running' && instance.startedAtNanos < kubeletStartNanos - inheritedAgeNanos
    for (const one of this.probes) one.state = meetContainer(one.type, instance.id, inherited)
  }

  /** Undefined: there is no instance yet. */
  health(): ContainerHealth | undefined {
    if (this.instance === undefined) return undefined
    return containerHealth(Object.fromEntries(this.probes.map((one) => [one.type, one.state])), this.before)
  }

  isDue({ type, probe, state }: ScheduledProbe, wallNanos: bigint): boolean {
    const { instance } = this
    return isProbeDue({
      type,
      initialDelaySeconds: probe.initialDelaySeconds,
      onHold: state.onHold,
      runningNanos: instance?.state === 'running' ? wallNanos - instance.startedAtNanos : undefined,
      started: this.health()?.started ?? false,
    })
  }

  /** A container that could be ready and is not: its readiness probe is not waited for. */
  get awaitsReadiness(): ScheduledProbe | undefined {
    const health = this.instance?.state === 'running' ? this.health() : undefined
    if (health === undefined || health.ready || !health.started) return undefined
    return this.probes.find(({ type }) => type === 'readiness')
  }
}
