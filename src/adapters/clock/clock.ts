// The machine's clocks.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.js'

/** Wall clock at the start of the monotonic one: their sum has finer steps than Date, and follows clock changes by this. */
const NANOS_PER_MILLI = 1_000_000n
/** A difference beyond this means that the clock was set. */
const DRIFT_NANOS = 100n * NANOS_PER_MILLI

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n)

export function createClock(): Clock {
  const wall = (): bigint => BigInt(Date.now()) * NANOS_PER_MILLI
  let offset = wall() - process.hrtime.bigint()
  return {
    nowNanos() {
      const fine = process.hrtime.bigint() + offset
      const coarse = wall()
      if (magnitude(coarse - fine) <= DRIFT_NANOS) return fine
      offset = coarse - process.hrtime.bigint()
      return coarse
    },
    monotonicNanos: () => process.hrtime.bigint(),
    sleep: async (ms, signal) => {
      try {
        await sleep(ms, undefined, signal === undefined ? {} : { signal })
      } catch (error) {
        // The caller's reason, not the timer's own AbortError.
        signal?.throwIfAborted()
        throw error
      }
    },
  }
}
