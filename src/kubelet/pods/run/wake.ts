// A worker's way to sleep: until it is poked, until a time, or until it is to end. A notify while awake is not lost.
import { pause } from '../../../core/units/retry.js'
import type { Clock } from '../../../ports/clock.js'

export class Wake {
  private poked = false
  private asleep: AbortController | undefined

  constructor(private readonly clock: Clock) {}

  notify(): void {
    this.poked = true
    this.asleep?.abort()
  }

  /** By the monotonic clock, which nobody sets. True: woken by a notify. */
  async sleep(untilNanos: bigint, signal: AbortSignal): Promise<boolean> {
    const ms = Number((untilNanos - this.clock.monotonicNanos()) / 1_000_000n) + 1
    if (!this.poked && !signal.aborted && ms > 0) await this.sleepFor(ms, signal)
    const { poked } = this
    this.poked = false
    return poked
  }

  /** A signal that lives as long as the process must not remember every sleep, so each takes its listener away. */
  private async sleepFor(ms: number, signal: AbortSignal): Promise<void> {
    const asleep = new AbortController()
    const end = (): void => asleep.abort()
    this.asleep = asleep
    signal.addEventListener('abort', end, { once: true })
    await pause(this.clock, ms, asleep.signal)
    signal.removeEventListener('abort', end)
    this.asleep = undefined
  }
}
