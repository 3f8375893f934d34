// How long a container that ended waits before it is started again: 10 s, doubled each time up to 5 minutes, and from the
// beginning again once it has run for 10 minutes. The same curve paces image pulls.

const second = 1_000_000_000n
const initialBackoffNanos = 10n * second
const maxBackoffNanos = 300n * second
const resetAfterNanos = 2n * maxBackoffNanos

export interface Backoff {
  readonly delayNanos: bigint
  /** When the last attempt was allowed. */
  readonly updatedAtNanos: bigint
}

const isReset = (backoff: Backoff, eventNanos: bigint): boolean =>
  eventNanos - backoff.updatedAtNanos > resetAfterNanos

/** Until when an event at `eventNanos` (the end of a container) has to wait; undefined: it may go on. */
export function backoffUntil(
  backoff: Backoff | undefined,
  eventNanos: bigint,
  nowNanos: bigint,
): bigint | undefined {
  if (backoff === undefined || isReset(backoff, eventNanos)) return undefined
  const until = eventNanos + backoff.delayNanos
  return until > nowNanos ? until : undefined
}

/** What the next event will have to wait, once this one was let through. */
export function nextBackoff(backoff: Backoff | undefined, eventNanos: bigint, nowNanos: bigint): Backoff {
  if (backoff === undefined || isReset(backoff, eventNanos))
    return { delayNanos: initialBackoffNanos, updatedAtNanos: nowNanos }
  const isLongest = backoff.delayNanos * 2n >= maxBackoffNanos
  return { delayNanos: isLongest ? maxBackoffNanos : backoff.delayNanos * 2n, updatedAtNanos: nowNanos }
}
