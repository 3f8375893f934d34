// Cores in use, from two readings of the same counter.

export interface CpuReading {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
}

/** Undefined rather than 0 when it is not known: whoever reads a 0 takes it for the truth. */
export function usageNanoCores(before: CpuReading | undefined, now: CpuReading): bigint | undefined {
  if (before === undefined) return undefined
  const elapsed = now.timeNanos - before.timeNanos
  const used = now.usageNanos - before.usageNanos
  return elapsed <= 0n || used < 0n ? undefined : (used * 1_000_000_000n) / elapsed
}
