// How a worker sleeps: until it is notified, until a time, or until it is stopped. A notify while awake is not lost.
import { pause } from '../../../core/units/retry.js'
import type { Clock } from '../../../ports/clock.js'

export class Wake {
  private notified = false
  private asleep: AbortController | undefined

  constructor(private readonly clock: Clock) {}

  notify(): void {
    this.notified = true
    this.asleep?.abort()
  }

  /** By the monotonic clock. True: woken by a notify. */
  async sleep(untilNanos: bigint, signal: AbortSignal): Promise<boolean> {
    const ms = Number((untilNanos - this.clock.monotonicNanos()) / 1_000_000n) + 1
    if (!this.notified && !signal.aborted && ms > 0) await this.sleepFor(ms, signal)
    const { notified } = this
    this.notified = false
    return notified
  }

  /** A signal that lives as long as the process must not remember every sleep, so each removes its listener. */
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
