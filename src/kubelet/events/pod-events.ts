// Events about pods: what every part of the pod runner says about a pod, in upstream's words, for `kubectl describe`.
import type { ContainerSpec } from '../../core/pod/spec/spec.js'
import type { Log } from '../../ports/log.js'
import type { EventQueue } from './event-queue.js'

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

/** Without an API server (queue undefined) an event is a line of the log. */
export const createPodEvents = (queue: Pick<EventQueue, 'record'> | undefined, log: Log): PodEvents => ({
  pod({ namespace, name, uid }, { type, reason, message, container, annotations }) {
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
})

const lists = {
  app: 'containers',
  init: 'initContainers',
  sidecar: 'initContainers',
  ephemeral: 'ephemeralContainers',
} as const

const fieldPathOf = ({ kind, name }: EventContainer): string => `spec.${lists[kind]}{${name}}`
