// Cores in use, from two readings of the same counter, and the earlier readings that this needs.

export interface CpuReading {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
}

/** Undefined rather than 0 when it is not known: a reader takes 0 for a measured value. */
export function usageNanoCores(before: CpuReading | undefined, now: CpuReading): bigint | undefined {
  if (before === undefined) return undefined
  const elapsed = now.timeNanos - before.timeNanos
  const used = now.usageNanos - before.usageNanos
  return elapsed <= 0n || used < 0n ? undefined : (used * 1_000_000_000n) / elapsed
}

/** One sampler owns one of these, so that two readers of the same counter never shorten each other's interval. */
export interface CpuHistory {
  /** Stores this reading and returns the one before it. */
  exchange(key: string, now: CpuReading | undefined): CpuReading | undefined
  /** Forgets counters that were not read since the last call. */
  sweep(): void
}

export function createCpuHistory(): CpuHistory {
  let before = new Map<string, CpuReading>()
  let current = new Map<string, CpuReading>()
  return {
    exchange(key, now) {
      if (now !== undefined) current.set(key, now)
      return before.get(key)
    },
    sweep() {
      before = current
      current = new Map()
    },
  }
}

interface SpacedReadings {
  readonly now: CpuReading
  readonly before: CpuReading | undefined
}

/** For readers without a fixed period: no rate spans less than this, however close two readings are. */
export function createSpacedHistory(minIntervalNanos: bigint): CpuHistory {
  let last = new Map<string, SpacedReadings>()
  let current = new Map<string, SpacedReadings>()
  return {
    exchange(key, now) {
      const known = last.get(key)
      if (now === undefined) return known?.now
      const isApart = known === undefined || now.timeNanos - known.now.timeNanos >= minIntervalNanos
      current.set(key, isApart ? { now, before: known?.now } : known)
      return isApart ? known?.now : known.before
    },
    sweep() {
      last = current
      current = new Map()
    },
  }
}
