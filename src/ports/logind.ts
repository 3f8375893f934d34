// systemd-logind as Keelson uses it: a shutdown of the machine is announced, and waits for those that hold a delay lock.

/** While it is held a shutdown waits, at most for logind's InhibitDelayMaxSec. */
export interface ShutdownLock {
  /** Resolves when it was given back or lost. */
  readonly ended: Promise<void>
  release(): void
}

export interface Logind {
  /** InhibitDelayMaxSec in milliseconds. */
  inhibitDelayMs(signal: AbortSignal): Promise<number>
  /** Sets InhibitDelayMaxSec in logind's configuration and makes logind read it. */
  setInhibitDelay(seconds: number, signal: AbortSignal): Promise<void>
  /** Rejects when logind does not give the lock. */
  lockShutdown(signal: AbortSignal): Promise<ShutdownLock>
  /** True: the machine shuts down; false: it does not after all. Resolves when the watch is over: the bus is gone. */
  watchShutdown(
    onShutdown: (isShuttingDown: boolean) => void,
    signal: AbortSignal,
  ): Promise<{ readonly ended: Promise<void> }>
}
