// Eviction of this node, from the configuration and the pods that run to its loop.
import type { EffectiveConfig } from '../../config/effective.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { PressureStats } from '../../stats/pressure.js'
import type { EventQueue } from '../events/event-queue.js'
import type { PodEvents } from '../events/pod-events.js'
import type { ImageGc } from '../gc/image-gc.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { Toleration } from './decide/admission.js'
import { configuredThresholds } from './decide/thresholds.js'
import { type EvictablePod, type Eviction, type EvictionOptions, startEviction } from './eviction.js'
import { createEvictionMetrics } from './eviction-metrics.js'

interface NodeEvictionInput {
  readonly config: EffectiveConfig
  readonly stats: PressureStats
  readonly pods: {
    active(): readonly PodSpec[]
    kill(
      uid: string,
      request: Parameters<EvictionOptions['pods']['kill']>[1] & { readonly until: 'released' },
    ): Promise<void>
    removeDeadContainers(signal: AbortSignal): Promise<number>
    readonly recordEvent: PodEvents['pod']
  }
  readonly images: ImageGc
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  readonly ports: Pick<KubeletPorts, 'clock' | 'log' | 'metrics'>
  readonly signal: AbortSignal
}

interface NodeEviction extends Omit<Eviction, 'rejects'> {
  /** Why a new pod is not taken now; undefined: it is. */
  rejects(spec: PodSpec): ReturnType<Eviction['rejects']>
}

export function startNodeEviction({ config, pods, ...i }: NodeEvictionInput): NodeEviction {
  const { kubelet, keelson } = config
  const { clock, log, metrics } = i.ports
  const eviction = startEviction({
    thresholds: configuredThresholds(kubelet),
    transitionMs: kubelet.evictionPressureTransitionPeriod,
    maxPodGraceSeconds: kubelet.evictionMaxPodGracePeriod,
    localStorageLimits: kubelet.localStorageCapacityIsolation,
    evictStaticPods: keelson.evictStaticPods,
    stats: i.stats,
    pods: {
      active: () => pods.active().map(evictable),
      kill: (uid, request) => pods.kill(uid, { ...request, until: 'released' }),
    },
    reclaim: {
      containers: (signal) => pods.removeDeadContainers(signal),
      images: async (signal) => Number(await i.images.removeUnused(signal)),
    },
    nodeEvent: (event) => i.events?.record(event),
    podEvent: pods.recordEvent,
    metrics: createEvictionMetrics(metrics),
    clock,
    log,
    signal: i.signal,
  })
  return {
    pressure: eviction.pressure,
    done: eviction.done,
    rejects: (spec) => eviction.rejects(spec.pod, tolerationsOf(spec)),
  }
}

const evictable = ({ pod, terminationGracePeriodSeconds, document }: PodSpec): EvictablePod => ({
  pod,
  volumes: document.spec['volumes'],
  graceSeconds: terminationGracePeriodSeconds,
})

const tolerationsOf = ({ document }: PodSpec): readonly Toleration[] => {
  const { tolerations } = document.spec
  return Array.isArray(tolerations) ? tolerations.filter(isToleration) : []
}

const isToleration = (value: unknown): value is Toleration =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((field) => typeof field === 'string' || typeof field === 'number')
