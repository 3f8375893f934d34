// A logind that a test shuts down: notes locks and the delay, and sends PrepareForShutdown when told to.
import type { Logind } from '../ports/systemd.js'

export class FakeLogind implements Logind {
  delayMs = 5_000
  /** Locks that are held now. */
  locks = 0
  /** Locks that were ever given. */
  given = 0
  private listeners = new Set<(isShuttingDown: boolean) => void>()
  private ends = new Set<() => void>()

  async inhibitDelayMs(): Promise<number> {
    return this.delayMs
  }
  async setInhibitDelay(seconds: number): Promise<void> {
    this.delayMs = seconds * 1000
  }
  async lockShutdown() {
    this.locks += 1
    this.given += 1
    let isHeld = true
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    return {
      ended,
      release: () => {
        if (isHeld) this.locks -= 1
        isHeld = false
        end()
      },
    }
  }
  async watchShutdown(onShutdown: (isShuttingDown: boolean) => void, _options: object, signal: AbortSignal) {
    this.listeners.add(onShutdown)
    const ended = new Promise<void>((resolve) => {
      this.ends.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    return { ended }
  }

  send(isShuttingDown: boolean): void {
    for (const listener of this.listeners) listener(isShuttingDown)
  }

  /** The bus is restarted. */
  breakConnection(): void {
    this.listeners.clear()
    for (const end of this.ends) end()
    this.ends.clear()
  }
}
