// All that a worker knows of its pod: what is wanted, how far its life is, what the runtime showed last, and what the runtime
// cannot remember (back-offs, holds, what was done already). Plain data; decide/pod-step.ts is the only code that changes it.
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodStatus } from '../../../core/pod/status-json.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import type { Hold, Waiting } from './actions.js'
import { nothingObserved, type ObservedPod } from './observed.js'
import type { Backoff } from './restart-backoff.js'

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
  /** Undefined: known from the runtime alone, and only to be cleaned up. */
  readonly spec: PodSpec | undefined
  /** The file that the pod came from; empty when that is not known. */
  readonly manifest: string
  /** When this kubelet heard of the pod, by the wall clock. */
  readonly firstSeenNanos: bigint
  readonly life: PodLife
  readonly observed: ObservedPod
  /** Container id -> when it ended, by the monotonic clock. */
  readonly endedAt: ReadonlyMap<string, bigint>
  /** Of restarts, by container name. */
  readonly backoffs: ReadonlyMap<string, Backoff>
  /** Of pulls, by image. */
  readonly pullBackoffs: ReadonlyMap<string, PullBackoff>
  /** By container name; the sandbox's is under the empty name. */
  readonly holds: ReadonlyMap<string, Hold>
  readonly prepared: boolean
  readonly released: boolean
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
  manifest: '',
  firstSeenNanos,
  life: { phase: 'active' },
  observed: observed ?? nothingObserved(uid, '', ''),
  endedAt: new Map(),
  backoffs: new Map(),
  pullBackoffs: new Map(),
  holds: new Map(),
  prepared: false,
  released: false,
  resize: { appliedFor: '', hold: undefined },
  waiting: new Map(),
  status: undefined,
  heldByOther: undefined,
  failures: { count: 0, message: '' },
  quietTurns: 0,
  nextTurnNanos: 0n,
})

export function podName({ spec, observed }: PodState): string {
  const { namespace, name } = spec?.pod ?? observed
  return `${namespace}/${name}`
}

/** After a restart of the kubelet it is taken from the oldest sandbox that is left. */
export function startedAtNanos({ observed, firstSeenNanos }: PodState): bigint {
  const oldest = observed.sandboxes.at(-1)?.createdAtNanos
  return oldest !== undefined && oldest < firstSeenNanos ? oldest : firstSeenNanos
}
