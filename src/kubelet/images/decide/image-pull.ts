// What happens to a container's image before the container is made: use what is there, pull, wait, or give up for now.
import type { PullPolicy } from '../../../core/pod/spec/spec.js'
import type { Hold } from '../../pods/decide/actions.js'
import { type Backoff, nextBackoff } from '../../pods/decide/restart-backoff.js'
import { nameProblem } from './image-name.js'

type ImageStep =
  | { readonly kind: 'use' }
  | { readonly kind: 'pull' }
  | { readonly kind: 'hold'; readonly hold: Hold }

/** How long a fault waits that only another manifest or another image store can fix. */
export const faultRetryNanos = 10_000_000_000n

/** Of one image in one pod. */
export interface PullBackoff extends Backoff {
  /** Reason and message of the pull that failed. */
  readonly error: string
}

export interface ImageInput {
  readonly image: string
  readonly policy: PullPolicy
  /** Of policy Always it does not matter. */
  readonly present: boolean
  /** Set by pulls that failed. */
  readonly backoff: PullBackoff | undefined
  readonly nowNanos: bigint
}

export function decideImage(i: ImageInput): ImageStep {
  const fault = (reason: string, message: string): ImageStep => ({
    kind: 'hold',
    hold: { untilNanos: i.nowNanos + faultRetryNanos, reason, message },
  })
  const problem = nameProblem(i.image)
  if (problem !== undefined)
    return fault(
      'InvalidImageName',
      `Failed to apply default image tag ${JSON.stringify(i.image.slice(0, 200))}: ${problem}`,
    )
  if (i.policy === 'Never' && !i.present)
    return fault('ErrImageNeverPull', `Container image "${i.image}" is not present with pull policy of Never`)
  if (i.policy === 'Never' || (i.policy === 'IfNotPresent' && i.present)) return { kind: 'use' }
  const until = i.backoff === undefined ? 0n : i.backoff.updatedAtNanos + i.backoff.delayNanos
  if (i.backoff === undefined || until <= i.nowNanos) return { kind: 'pull' }
  return {
    kind: 'hold',
    hold: {
      untilNanos: until,
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${i.image}": ${i.backoff.error}`,
    },
  }
}

interface PullFailed {
  readonly backoff: PullBackoff
  readonly hold: Hold
}

/** Shown as the error itself for a moment; the look after that finds the back-off. */
const errorShownNanos = 2_000_000_000n

export function pullFailed(before: Backoff | undefined, error: string, nowNanos: bigint): PullFailed {
  const reason = 'ErrImagePull'
  return {
    backoff: { ...nextBackoff(before, nowNanos, nowNanos), error: `${reason}: ${error}` },
    hold: { untilNanos: nowNanos + errorShownNanos, reason, message: error },
  }
}
