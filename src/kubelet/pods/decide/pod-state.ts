// All that a worker knows of its pod: what is wanted, how far its life is, what the runtime showed last, and what the runtime
// cannot remember (back-offs, holds, what was done already). Plain data; decide/pod-step.ts is the only code that changes it.
import type { KubePod } from '../../../core/kube/objects.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodStatus } from '../../../core/pod/status-json.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import type { PodHealth } from '../../probes/decide/health.js'
import type { Hold, Waiting } from './actions.js'
import { isUp, type KilledFor, nothingObserved, type ObservedPod } from './observed.js'
import type { Backoff } from './restart-backoff.js'
import { isTerminalPhase, podKey } from './wanted-pod.js'

/** Why this kubelet ends a pod, or does not run it: the pod's status says Failed with this reason. */
export interface Verdict {
  readonly reason: string
  readonly message: string
  /** Conditions that are sent with the end, such as DisruptionTarget. */
  readonly conditions: readonly VerdictCondition[]
  /** It was never admitted: the status has nothing of its containers. */
  readonly rejected: boolean
  /** Failed even where every container ends with 0. */
  readonly isFinal?: boolean
}

export interface VerdictCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** One direction only: a pod that terminates never becomes active again, another pod of its name is another worker's. */
type PodLife =
  | { readonly phase: 'active' }
  | {
      readonly phase: 'terminating'
      /** By the monotonic clock: the grace period must not move when the wall clock is set. */
      readonly sinceNanos: bigint
      /** By the wall clock, as the API shows it. */
      readonly sinceWallNanos: bigint
      readonly graceSeconds: number
    }
  /** Nothing of the pod is left, or what is left belongs to another kubelet: the worker ends. */
  | { readonly phase: 'gone' }

export interface PodState {
  readonly uid: string
  /** Undefined: known from the runtime alone and only to be cleaned up, or rejected because it cannot be run here. */
  readonly spec: PodSpec | undefined
  /** Whether a source has the pod: what is left of one that none has is removed. */
  readonly wanted: boolean
  /** As the API server had it when it last wanted something else of this node; undefined for a static pod. */
  readonly api: KubePod | undefined
  readonly verdict: Verdict | undefined
  /** The file that the pod came from; empty when that is not known. */
  readonly manifest: string
  /** When this kubelet heard of the pod, by the wall clock. */
  readonly firstSeenNanos: bigint
  readonly life: PodLife
  readonly observed: ObservedPod
  /** Container id -> when it ended, by the monotonic clock. */
  readonly endedAt: ReadonlyMap<string, bigint>
  /** The highest attempt of each container so far, by name: instances that were removed count too. */
  readonly attempts: ReadonlyMap<string, number>
  /** What probes say of running containers, by id. */
  readonly health: PodHealth
  /** Containers that the kubelet ended to start them again, by id. */
  readonly kills: ReadonlyMap<string, KilledFor>
  /** Of restarts, by container name. */
  readonly backoffs: ReadonlyMap<string, Backoff>
  /** Of pulls, by image. */
  readonly pullBackoffs: ReadonlyMap<string, PullBackoff>
  /** By container name; the sandbox's is under the empty name. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly prepared: boolean
  readonly released: boolean
  /** The pod has ended, or is to end, and a look at the runtime since then has shown that nothing of it runs. */
  readonly stopped: boolean
  /** The resources that running containers were last given, and a smaller limit that waits for usage to fall. */
  readonly resize: { readonly appliedFor: string; readonly hold: Hold | undefined }
  /** Why containers are not running although they should be, as of the last turn. */
  readonly waiting: ReadonlyMap<string, Waiting>
  /** Undefined as long as there is no spec. */
  readonly status: PodStatus | undefined
  /** Why the pod is not touched: another kubelet runs it, or one of its name. */
  readonly heldByOther: string | undefined
  /** Turns in a row that failed, and what the last one said. */
  readonly failures: { readonly count: number; readonly message: string }
  /** Turns in a row that found nothing to do and waited for nothing. */
  readonly quietTurns: number
  /** When the next turn is due, by the monotonic clock. */
  readonly nextTurnNanos: bigint
}

export const createPodState = (
  uid: string,
  observed: ObservedPod | undefined,
  firstSeenNanos: bigint,
): PodState => ({
  uid,
  spec: undefined,
  wanted: false,
  api: undefined,
  verdict: undefined,
  manifest: '',
  firstSeenNanos,
  life: { phase: 'active' },
  observed: observed ?? nothingObserved(uid, '', ''),
  endedAt: new Map(),
  attempts: new Map(),
  health: new Map(),
  kills: new Map(),
  backoffs: new Map(),
  pullBackoffs: new Map(),
  holds: new Map(),
  prepared: false,
  released: false,
  stopped: false,
  resize: { appliedFor: '', hold: undefined },
  waiting: new Map(),
  status: undefined,
  heldByOther: undefined,
  failures: { count: 0, message: '' },
  quietTurns: 0,
  nextTurnNanos: 0n,
})

export function podName({ spec, api, observed }: PodState): string {
  const { namespace, name } = spec?.pod ?? (api === undefined ? undefined : podKey(api)) ?? observed
  return `${namespace}/${name}`
}

/** Nothing is left to do for the pod but to remove what remains of it once its object or manifest has gone. */
export const isFinished = ({ life, stopped, released }: PodState): boolean =>
  stopped && released && life.phase !== 'gone'

/**
 * What the pod may use of the node: that of a pod that a source has, as long as something of it may run. After a restart of the
 * kubelet the API server remembers which pods are over, and the scheduler has given away their places.
 */
export function heldSpec({ wanted, stopped, verdict, spec, api, observed }: PodState): PodSpec | undefined {
  const isOver = stopped || (isTerminalPhase(api?.status?.phase) && !isUp(observed))
  return wanted && !isOver && verdict?.rejected !== true ? spec : undefined
}

/** After a restart of the kubelet it is taken from the oldest sandbox that is left. */
export function startedAtNanos({ observed, firstSeenNanos }: PodState): bigint {
  const oldest = observed.sandboxes.at(-1)?.createdAtNanos
  return oldest !== undefined && oldest < firstSeenNanos ? oldest : firstSeenNanos
}
