// The CPU time of this process, and whether the kernel counts it finely: user-mode Linux does so in steps of 10 ms.

export interface CpuClock {
  readonly isFine: boolean
  /** Nanoseconds of user and system time so far. */
  now(): number
}

const COARSE_NANOS = 1_000_000

export function createCpuClock(): CpuClock {
  const now = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1_000
  }
  // The smallest step that is seen while the clock runs.
  let smallest = Number.POSITIVE_INFINITY
  for (let seen = 0, last = now(); seen < 5; ) {
    const next = now()
    if (next === last) continue
    smallest = Math.min(smallest, next - last)
    last = next
    seen++
  }
  return { isFine: smallest < COARSE_NANOS, now }
}
