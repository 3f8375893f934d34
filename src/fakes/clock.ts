// A clock that a test moves. Sleepers wake in the order of their times.
import type { Clock } from '../ports/clock.js'

interface Sleeper {
  readonly wakeAt: bigint
  readonly wake: () => void
}

export class FakeClock implements Clock {
  private sleepers: Sleeper[] = []
  private monotonic = 0n
  private wall: bigint

  constructor(startNanos = 1_700_000_000_000_000_000n) {
    this.wall = startNanos
  }

  nowNanos(): bigint {
    return this.wall
  }

  monotonicNanos(): bigint {
    return this.monotonic
  }

  /** How many are asleep. */
  get waiting(): number {
    return this.sleepers.length
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const onAbort = () => {
        this.sleepers = this.sleepers.filter((other) => other !== sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper = { wakeAt: this.monotonic + BigInt(Math.round(ms * 1e6)), wake }
      this.sleepers.push(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Moves both clocks; each sleeper runs before the next one wakes. */
  async advance(ms: number): Promise<void> {
    const end = this.monotonic + BigInt(Math.round(ms * 1e6))
    for (;;) {
      const next = this.sleepers
        .filter((s) => s.wakeAt <= end)
        .sort((a, b) => (a.wakeAt < b.wakeAt ? -1 : 1))[0]
      if (next === undefined) break
      this.moveTo(next.wakeAt)
      this.sleepers = this.sleepers.filter((other) => other !== next)
      next.wake()
      await settle()
    }
    this.moveTo(end)
    await settle()
  }

  /** Sets the wall clock; the monotonic clock is unchanged. */
  setWall(nanos: bigint): void {
    this.wall = nanos
  }

  private moveTo(monotonic: bigint): void {
    if (monotonic <= this.monotonic) return
    this.wall += monotonic - this.monotonic
    this.monotonic = monotonic
  }
}

/** Lets promises that were just resolved run on, sleep again, and so on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
