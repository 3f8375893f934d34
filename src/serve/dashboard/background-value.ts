// A slow value for a snapshot that is made every second: refreshed in the background while a dashboard is open, and shown
// as last known.

import type { Part } from '../../core/dashboard/model.js'
import { asKeelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'

interface KeptOptions<T> {
  readonly clock: Clock
  /** Not asked again before. */
  readonly everyMs: number
  /** `the doctor is at work`; or what is known already. */
  readonly meanwhile: string | { readonly data: T }
  readonly signal: AbortSignal
  find(signal: AbortSignal): Promise<T>
}

export function createBackgroundValue<T>(o: KeptOptions<T>): () => Part<T> {
  let part: Part<T> = typeof o.meanwhile === 'string' ? { absent: o.meanwhile } : o.meanwhile
  let askedAt: bigint | undefined
  let isAsking = false

  async function ask(): Promise<void> {
    isAsking = true
    try {
      part = { data: await o.find(o.signal) }
    } catch (e) {
      // What is known stays; a first failure is all there is to say.
      if (!('data' in part) && !o.signal.aborted) part = { absent: asKeelsonError(e).message }
    } finally {
      askedAt = o.clock.monotonicNanos()
      isAsking = false
    }
  }

  return () => {
    const isOld = askedAt === undefined || o.clock.monotonicNanos() - askedAt > BigInt(o.everyMs) * 1_000_000n
    if (isOld && !isAsking && !o.signal.aborted) void ask()
    return part
  }
}
