// systemd as Keelson uses it: transient slices of its manager, their resource properties, and stopping them; and logind, where a
// shutdown of the machine is announced and waits for those that hold a delay lock.
import type { SystemdProperty, SystemdValue } from '../core/cgroup/systemd-properties.js'

export interface SystemdCallOptions {
  readonly signal?: AbortSignal
  /** For the whole operation, waiting for its job included. */
  readonly timeoutMs?: number
}

export interface Systemd {
  /** Starts a transient unit and waits for its job. An existing unit is left as it is: `existed`. */
  startTransientUnit(
    unit: string,
    properties: readonly SystemdProperty[],
    options?: SystemdCallOptions,
  ): Promise<'started' | 'existed'>
  /** Runtime properties of a loaded unit: kept over daemon-reload, not over a reboot. Give the full owned set. */
  setUnitProperties(
    unit: string,
    properties: readonly SystemdProperty[],
    options?: SystemdCallOptions,
  ): Promise<void>
  /** Stops the unit and waits for the job. A unit that is not loaded is not an error: `absent`. */
  stopUnit(unit: string, options?: SystemdCallOptions): Promise<'stopped' | 'absent'>
  /** One property, e.g. interface `Slice`, name `MemoryHigh`. Undefined: the unit is not loaded. */
  unitProperty(
    unit: string,
    unitInterface: string,
    name: string,
    options?: SystemdCallOptions,
  ): Promise<SystemdValue | undefined>
  /** `252.39-1~deb12u1` */
  version(options?: SystemdCallOptions): Promise<string>
  /** daemon-reload. */
  reload(options?: SystemdCallOptions): Promise<void>
  /** Called after each finished daemon-reload, whatever caused it. Returns the unsubscribe function. */
  onReloaded(listener: () => void): () => void
  close(): Promise<void>
}

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
  /**
   * True: the machine shuts down; false: it does not after all. Resolves when the watch is over: the bus is gone. Any process of the
   * machine may send such a signal; `fromAnySender` takes it from all of them and not from logind alone.
   */
  watchShutdown(
    onShutdown: (isShuttingDown: boolean) => void,
    options: { readonly fromAnySender: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly ended: Promise<void> }>
}
