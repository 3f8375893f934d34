// Between two rounds of eviction the available memory is watched: a node can run out of it long before the next round.
import type { Clock } from '../../ports/clock.js'
import type { PressureStats } from '../../stats/pressure.js'
import { nextLookMs } from './decide/next-look.js'
import { type Observations, ofMemory } from './decide/observations.js'
import type { Signal } from './decide/signals.js'
import { type Threshold, thresholdsMet } from './decide/thresholds.js'

interface MemoryWatchOptions {
  readonly thresholds: readonly Threshold[]
  readonly stats: Pick<PressureStats, 'memory'>
  readonly clock: Pick<Clock, 'sleep' | 'monotonicNanos'>
}

interface MemoryWatch {
  /** Resolves after so long, or as soon as a memory threshold is met that was not met when it was called. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function watchMemory({ thresholds, stats, clock }: MemoryWatchOptions): MemoryWatch {
  const watched = thresholds.filter(({ signal }) => signal.endsWith('emory.available'))
  const look = (): Observations => {
    const memory = stats.memory()
    const seen = [
      ['memory.available', ofMemory(memory?.node)] as const,
      ['allocatableMemory.available', ofMemory(memory?.pods)] as const,
    ].flatMap(([name, value]) => (value === undefined ? [] : [[name as Signal, value] as const]))
    return new Map(seen)
  }
  const met = (seen: Observations): readonly Threshold[] => thresholdsMet(watched, seen, false)
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    clock.sleep(ms, signal).catch(() => undefined)

  return {
    async wait(ms, signal) {
      if (watched.length === 0) return pause(ms, signal)
      const untilNanos = clock.monotonicNanos() + BigInt(ms) * 1_000_000n
      // A threshold that stays met is the next round's; only a new one is worth an extra round.
      let seen = look()
      let known = new Set(met(seen))
      while (!signal.aborted && clock.monotonicNanos() < untilNanos) {
        await pause(nextLookMs(watched, seen), signal)
        seen = look()
        const now = met(seen)
        if (now.some((threshold) => !known.has(threshold))) return
        known = new Set(now)
      }
    },
  }
}
