// Events about pods: what every part of the pod runner says about a pod, in upstream's words, for `kubectl describe`.
import type { ContainerSpec } from '../../core/pod/spec/spec.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { PodEventJson } from '../../serve/endpoints/pod-events.js'
import type { EventQueue } from './event-queue.js'
import { RecentEvents } from './recent-events.js'

interface PodIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

interface EventContainer {
  readonly kind: ContainerSpec['kind'] | 'ephemeral'
  readonly name: string
}

export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The container that it is about; not given: the pod as a whole. */
  readonly container?: EventContainer
  readonly annotations?: Readonly<Record<string, string>>
}

export interface PodEvents {
  pod(pod: PodIdentity, event: PodEvent): void
}

interface KeptPodEvents extends PodEvents {
  /** The last ones about a pod, the newest last. */
  recent(uid: string): readonly PodEventJson[]
}

interface PodEventsOptions {
  /** Undefined: there is no API server, and an event is a line of the log. */
  readonly queue: Pick<EventQueue, 'record'> | undefined
  readonly clock: Pick<Clock, 'nowNanos'>
  readonly log: Log
}

export function createPodEvents({ queue, clock, log }: PodEventsOptions): KeptPodEvents {
  const recent = new RecentEvents()
  return {
    recent: (uid) => recent.of(uid),
    pod({ namespace, name, uid }, event) {
      recent.add(uid, event, Number(clock.nowNanos() / 1_000_000n))
      const { type, reason, message, container, annotations } = event
      if (queue === undefined) {
        log.info(message, {
          event: reason,
          type,
          pod: `${namespace}/${name}`,
          ...(container === undefined ? {} : { container: container.name }),
        })
        return
      }
      const fieldPath = container === undefined ? {} : { fieldPath: fieldPathOf(container) }
      queue.record({
        type,
        reason,
        message,
        ...(annotations === undefined ? {} : { annotations }),
        involved: { kind: 'Pod', namespace, name, uid, ...fieldPath },
      })
    },
  }
}

const lists = {
  app: 'containers',
  init: 'initContainers',
  sidecar: 'initContainers',
  ephemeral: 'ephemeralContainers',
} as const

const fieldPathOf = ({ kind, name }: EventContainer): string => `spec.${lists[kind]}{${name}}`
