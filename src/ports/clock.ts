// Time as a dependency: wall clock, monotonic clock and sleeping.

export interface Clock {
  /** Wall clock, nanoseconds since 1970. */
  nowNanos(): bigint
  /** Never goes back; only differences mean something. */
  monotonicNanos(): bigint
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
