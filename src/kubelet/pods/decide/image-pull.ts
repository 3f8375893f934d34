// What happens to a container's image before the container is made: use what is there, pull, wait, or give up for now.
import { isImageReference } from '../../../core/pod/spec/image-reference.js'
import type { PullPolicy } from '../../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../../core/units/go-duration.js'
import type { Hold } from './actions.js'
import { type Backoff, nextBackoff } from './restart-backoff.js'

type ImageStep =
  | { readonly kind: 'use' }
  | { readonly kind: 'pull' }
  | { readonly kind: 'hold'; readonly hold: Hold }

/** How long a fault waits that only another manifest or another image store can fix. */
export const faultRetryNanos = 10_000_000_000n

export interface ImageInput {
  readonly image: string
  readonly policy: PullPolicy
  readonly present: boolean
  /** Of this image in this pod; set by pulls that failed. */
  readonly backoff: Backoff | undefined
  readonly nowNanos: bigint
}

export function decideImage(i: ImageInput): ImageStep {
  const fault = (reason: string, message: string): ImageStep => ({
    kind: 'hold',
    hold: { untilNanos: i.nowNanos + faultRetryNanos, reason, message },
  })
  if (!isImageReference(i.image))
    return fault(
      'InvalidImageName',
      `Failed to apply default image tag "${i.image.slice(0, 200)}": it is no image name`,
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
      message: `Back-off ${formatGoDuration(i.backoff.delayNanos)} pulling image "${i.image}"`,
    },
  }
}

interface PullFailed {
  readonly backoff: Backoff
  readonly hold: Hold
}

/** Shown as the error itself for a moment; the look after that finds the back-off. */
const errorShownNanos = 2_000_000_000n

export function pullFailed(before: Backoff | undefined, error: string, nowNanos: bigint): PullFailed {
  return {
    backoff: nextBackoff(before, nowNanos, nowNanos),
    hold: { untilNanos: nowNanos + errorShownNanos, reason: 'ErrImagePull', message: error },
  }
}

interface NonRootInput {
  readonly runAsUser: number | undefined
  /** Of the image; -1n: none given. */
  readonly imageUid: bigint | undefined
  readonly imageUser: string
}

/** `runAsNonRoot: true` is a promise that must be checked before the container runs. Undefined: it holds. */
export function rootProblem({ runAsUser, imageUid, imageUser }: NonRootInput): string | undefined {
  if (runAsUser !== undefined)
    return runAsUser === 0 ? "container's runAsUser breaks non-root policy" : undefined
  if (imageUser !== '')
    return `container has runAsNonRoot and image has non-numeric user (${imageUser}), cannot verify user is non-root`
  return imageUid === undefined || imageUid === 0n
    ? 'container has runAsNonRoot and image will run as root'
    : undefined
}
