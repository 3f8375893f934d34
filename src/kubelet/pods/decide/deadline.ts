// activeDeadlineSeconds: how long a pod may be active, counted from its status.startTime.
import { parseTime } from '../../../core/units/rfc3339.js'
import type { PodState, Verdict } from './pod-state.js'

export const deadlineExceeded: Verdict = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
  conditions: [],
  rejected: false,
  isFinal: true,
}

/** Nanoseconds that are left, 0 or less once it has passed; undefined: the pod has no deadline or terminates already. */
export function deadlineLeft(
  { spec, life, status, firstSeenNanos }: PodState,
  wallNanos: bigint,
): bigint | undefined {
  const seconds = spec?.activeDeadlineSeconds
  if (seconds === undefined || life.phase !== 'active') return undefined
  const startedNanos = parseTime(status?.startTime ?? '') ?? firstSeenNanos
  return startedNanos + BigInt(seconds) * 1_000_000_000n - wallNanos
}
