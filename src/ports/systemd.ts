// systemd's manager as Keelson uses it: transient slices, their resource properties, and stopping them.
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
