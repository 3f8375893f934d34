// What a turn of a pod is made of: what it is decided from, the actions that come out, and what the pod waits for.
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodHealth } from '../../probes/decide/health.js'
import type { KilledFor, ObservedContainer, ObservedPod } from './observed.js'
import type { Backoff } from './restart-backoff.js'

/** Why a container is not started yet although it should be. */
export interface Hold {
  readonly untilNanos: bigint
  /** As kubectl shows it: ImagePullBackOff, CreateContainerError. */
  readonly reason: string
  readonly message: string
}

export interface StopTarget {
  readonly id: string
  readonly name: string
  readonly kind: ContainerSpec['kind']
  /** Of the event; not given: `Stopping container NAME`. */
  readonly message?: string
}

export type PodAction =
  /** Pod cgroup with its values, directories, volumes. */
  | { readonly kind: 'prepare' }
  | { readonly kind: 'run-sandbox'; readonly attempt: number }
  /** Image, create, start. `endedAtNanos`: the end of the instance before, which back-off counts from. */
  | {
      readonly kind: 'start-container'
      readonly name: string
      readonly attempt: number
      readonly endedAtNanos: bigint | undefined
    }
  /** Created before by us or an earlier life of us, and never started. */
  | { readonly kind: 'start-created'; readonly id: string; readonly name: string }
  | { readonly kind: 'resize' }
  /** All at the same time, but a sidecar waits for those before it in the list; done when every one has ended. */
  | {
      readonly kind: 'stop-containers'
      readonly targets: readonly StopTarget[]
      readonly graceSeconds: number
      readonly why: string
      /** The kubelet restarts them: their exit codes say nothing. */
      readonly killedFor?: KilledFor
    }
  | { readonly kind: 'stop-sandbox'; readonly id: string }
  | { readonly kind: 'remove-container'; readonly id: string }
  | { readonly kind: 'remove-sandbox'; readonly id: string }
  /** The pod has completed: cgroup and volumes are removed, status and logs stay as long as the manifest. */
  | { readonly kind: 'release' }
  /** The pod is unwanted and nothing of it runs: everything is removed. */
  | { readonly kind: 'forget' }

export interface Waiting {
  readonly reason: string
  readonly message: string
}

export interface PodTurnInput {
  readonly spec: PodSpec | undefined
  readonly observed: ObservedPod
  /** Set once the pod is to end: when that began, and how long it may take. */
  readonly ending: { readonly sinceNanos: bigint; readonly graceSeconds: number } | undefined
  readonly backoffs: ReadonlyMap<string, Backoff>
  /** By container name; the sandbox's is under the empty name. */
  readonly holds: ReadonlyMap<string, Hold>
  /** Whether this process has prepared the pod already. */
  readonly prepared: boolean
  readonly released: boolean
  /** Whether a source still has the pod; default false. */
  readonly wanted?: boolean
  /** Whether a running container, or the pod's cgroup, has other cpu or memory values than wanted. */
  readonly resize: boolean
  /** Container id -> when it ended, by the clock of `nowNanos`. */
  readonly endedAt: ReadonlyMap<string, bigint>
  /** What probes say of running containers, by id. */
  readonly health?: PodHealth
  /** The highest attempt of each container so far, removed instances included. */
  readonly attempts?: ReadonlyMap<string, number>
  /** crashLoopBackOff.maxContainerRestartPeriod, where it is set. */
  readonly maxBackoffNanos?: bigint | undefined
  /** Monotonic; holds, back-offs and the start of the termination are by the same clock. */
  readonly nowNanos: bigint
}

export interface PodTurn {
  readonly actions: readonly PodAction[]
  /** When to look again although nothing happens. */
  readonly wakeAtNanos: bigint | undefined
  readonly waiting: ReadonlyMap<string, Waiting>
  /** The pod is over, and nothing of it runs any more. */
  readonly stopped?: boolean
}

/** Nothing to wait for: the next turn follows when these are done. */
export const onlyActions = (actions: readonly PodAction[]): PodTurn => ({
  actions,
  wakeAtNanos: undefined,
  waiting: new Map(),
})

/** All within one grace period. */
export const stopTogether = (
  containers: readonly ObservedContainer[],
  graceSeconds: number,
  why: string,
): PodAction => ({
  kind: 'stop-containers',
  targets: containers.map(({ id, name, kind }) => ({ id, name, kind })),
  graceSeconds,
  why,
})
