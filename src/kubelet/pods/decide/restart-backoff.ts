// How long a container that ended waits before it is started again: 10 s, doubled each time up to 5 minutes or to
// crashLoopBackOff.maxContainerRestartPeriod, and from the beginning again once it has run twice that long. The same curve
// paces image pulls.

const second = 1_000_000_000n
const initialBackoffNanos = 10n * second
const defaultMaxBackoffNanos = 300n * second

export interface Backoff {
  readonly delayNanos: bigint
  /** When the last attempt was allowed. */
  readonly updatedAtNanos: bigint
}

const isReset = (backoff: Backoff, eventNanos: bigint, maxNanos: bigint): boolean =>
  eventNanos - backoff.updatedAtNanos > 2n * maxNanos

/** Until when an event at `eventNanos` (the end of a container) has to wait; undefined: it may go on. */
export function backoffUntil(
  backoff: Backoff | undefined,
  eventNanos: bigint,
  nowNanos: bigint,
  maxNanos: bigint = defaultMaxBackoffNanos,
): bigint | undefined {
  if (backoff === undefined || isReset(backoff, eventNanos, maxNanos)) return undefined
  const until = eventNanos + backoff.delayNanos
  return until > nowNanos ? until : undefined
}

/** What the next event will have to wait, once this one was let through. */
export function nextBackoff(
  backoff: Backoff | undefined,
  eventNanos: bigint,
  nowNanos: bigint,
  maxNanos: bigint = defaultMaxBackoffNanos,
): Backoff {
  const longer =
    backoff === undefined || isReset(backoff, eventNanos, maxNanos)
      ? initialBackoffNanos
      : backoff.delayNanos * 2n
  return { delayNanos: longer > maxNanos ? maxNanos : longer, updatedAtNanos: nowNanos }
}
