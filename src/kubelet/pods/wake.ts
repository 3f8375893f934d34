// A worker's way to sleep: until it is poked, until a time, or until it is to end. A poke while awake is not lost.
import type { Clock } from '../../ports/clock.js'

export class Wake {
  private poked = false
  private awake = new AbortController()

  constructor(private readonly clock: Clock) {}

  poke(): void {
    this.poked = true
    this.awake.abort()
  }

  async sleep(untilNanos: bigint, signal: AbortSignal): Promise<void> {
    if (!this.poked && !signal.aborted) {
      const ms = Number((untilNanos - this.clock.nowNanos()) / 1_000_000n) + 1
      const end = AbortSignal.any([signal, this.awake.signal])
      if (ms > 0) await this.clock.sleep(ms, end).catch(() => undefined)
    }
    this.poked = false
    this.awake = new AbortController()
  }
}
