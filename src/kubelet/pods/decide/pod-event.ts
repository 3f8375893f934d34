// What happens to a pod, and what is done about it: the words of pod-step.ts and of the worker that carries the effects out.
import type { KubePod } from '../../../core/kube/objects.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodEvent as PodEventRecord } from '../../events/pod-events.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import type { PodHealth } from '../../probes/decide/health.js'
import type { Hold, PodAction } from './actions.js'
import type { ObservedPod } from './observed.js'
import { type PodState, podName, type Verdict } from './pod-state.js'

export type PodEvent =
  /** A source wants the pod; again whenever it has changed there. */
  | {
      readonly kind: 'wanted'
      readonly spec: PodSpec | undefined
      readonly manifest: string
      readonly api?: KubePod | undefined
    }
  /** No source wants it any more. */
  | { readonly kind: 'unwanted' }
  /** The kubelet ends the pod, or does not admit it, while its source still wants it. */
  | { readonly kind: 'killed'; readonly verdict: Verdict; readonly graceSeconds?: number | undefined }
  /** What the runtime shows of it now. */
  | { readonly kind: 'observed'; readonly observed: ObservedPod; readonly health?: PodHealth }
  /** A probe has another result than before. */
  | { readonly kind: 'probed'; readonly health: PodHealth }
  /** A turn is due; always after `observed`. */
  | {
      readonly kind: 'turn'
      readonly heldByOther: string | undefined
      /** False while another pod of the same name is still terminating. */
      readonly nameIsFree: boolean
      /** Whether a running container has other cpu or memory values than the spec wants. */
      readonly resourcesDiffer: boolean
    }
  | { readonly kind: 'acting'; readonly action: PodAction }
  | { readonly kind: 'acted'; readonly action: PodAction; readonly hold: Hold | undefined }
  /** A pull ended; with a back-off: it failed. */
  | { readonly kind: 'pulled'; readonly image: string; readonly backoff: PullBackoff | undefined }
  /** All actions of a turn were carried out. */
  | { readonly kind: 'synced' }
  /** A turn could not be carried out; what is left of it is decided anew. */
  | { readonly kind: 'failed'; readonly error: Error; readonly runtimeUnreachable: boolean }
  /** Something happened that the pod may have to do with. */
  | { readonly kind: 'woken' }

export type PodEffect =
  | { readonly kind: 'act'; readonly action: PodAction }
  | {
      readonly kind: 'log'
      readonly level: 'info' | 'warn' | 'error'
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'event'; readonly event: PodEventRecord }
  /** Take the next turn now instead of when it is due. */
  | { readonly kind: 'wake' }
  | { readonly kind: 'cancel-pulls' }
  /** Less time is left than what runs now was given: stop calls are made anew. */
  | { readonly kind: 'hurry' }
  | { readonly kind: 'gone' }

export interface PodStep {
  readonly state: PodState
  readonly effects: readonly PodEffect[]
}

export interface Moment {
  readonly monotonicNanos: bigint
  readonly wallNanos: bigint
}

/** What does not change while the kubelet runs. */
export interface PodFacts {
  readonly syncNanos: bigint
  readonly hostIPs: readonly string[]
  readonly runtimeName: string
  /** crashLoopBackOff.maxContainerRestartPeriod; undefined: 5 minutes. */
  readonly maxBackoffNanos?: bigint | undefined
}

export const logEffect = (
  level: 'info' | 'warn' | 'error',
  message: string,
  state: PodState,
  fields: Readonly<Record<string, unknown>>,
): PodEffect => ({ kind: 'log', level, message, fields: { pod: podName(state), ...fields } })
