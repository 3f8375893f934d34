// Throttle events of a container by name, counted over its restarts: each instance counts from zero in its own cgroup.

export interface ThrottleCount {
  /** The instance that was last looked at. */
  readonly containerId: string
  /** Its own count then. */
  readonly seen: bigint
}

interface ThrottleStep {
  readonly next: ThrottleCount
  /** What the counter grows by. */
  readonly added: bigint
  /** This instance was throttled for the first time since it is watched. */
  readonly first: boolean
}

/** A count that went back means a new cgroup behind the same id; it then counts from zero as well. */
export function countThrottle(
  before: ThrottleCount | undefined,
  containerId: string,
  count: bigint,
): ThrottleStep {
  const same = before !== undefined && before.containerId === containerId && count >= before.seen
  const seen = same ? before.seen : 0n
  return {
    next: { containerId, seen: count },
    added: count - seen,
    first: count > 0n && seen === 0n,
  }
}
