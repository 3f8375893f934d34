// systemd's manager over D-Bus: transient units with their jobs awaited, properties, stopping. The D-Bus library is loaded
// with the first call.

import type { SystemdProperty, SystemdValue } from '../../core/cgroup/systemd-properties.js'
import { keelsonError } from '../../core/errors.js'
import type { Systemd, SystemdCallOptions } from '../../ports/systemd.js'
import type { BusSignal } from './bus.js'
import { Connection, type OperationDeadline } from './connection.js'
import { dbusErrorName, systemdError } from './errors.js'
import { Jobs } from './jobs.js'
import { fromVariant, toVariants } from './values.js'

interface SystemdOptions {
  /** D-Bus address. Default: the system bus. */
  readonly address?: string
  /** Of each operation. Default 25,000 ms. */
  readonly timeoutMs?: number
}

const SYSTEM_BUS = 'unix:path=/run/dbus/system_bus_socket'
const TIMEOUT_MS = 25_000
const UNIT_EXISTS = 'org.freedesktop.systemd1.UnitExists'
const NO_SUCH_UNIT = 'org.freedesktop.systemd1.NoSuchUnit'
const PROPERTIES = 'org.freedesktop.DBus.Properties'

const variants = async (properties: readonly SystemdProperty[]) => {
  const { Variant } = await import('@jellybrick/dbus-next')
  return toVariants(properties, (signature, value) => new Variant(signature, value))
}

export class SystemdManager implements Systemd {
  private readonly address: string
  private readonly timeoutMs: number
  private readonly connection: Connection
  private readonly jobs = new Jobs()
  private readonly reloadListeners = new Set<() => void>()

  constructor({ address = SYSTEM_BUS, timeoutMs = TIMEOUT_MS }: SystemdOptions = {}) {
    this.address = address
    this.timeoutMs = timeoutMs
    this.connection = new Connection(
      address,
      (signal) => this.take(signal),
      () => this.reloadListeners.size > 0,
      // A reload may have gone by unheard.
      () => this.tellReloaded(),
    )
  }

  private take({ member, body }: BusSignal): void {
    if (member === 'JobRemoved') this.jobs.finish(String(body[1]), String(body[3]))
    if (member === 'Reloading' && body[0] === false) this.tellReloaded()
  }

  private tellReloaded(): void {
    for (const listener of [...this.reloadListeners]) listener()
  }

  /** One deadline and one place where errors get their context. */
  private async operation<T>(
    what: string,
    { timeoutMs, signal }: SystemdCallOptions,
    work: (deadline: OperationDeadline) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    const deadline = this.connection.deadline(timeoutMs ?? this.timeoutMs, signal)
    try {
      return await work(deadline)
    } catch (error) {
      const explained = deadline.explain(what, error)
      throw signal?.aborted ? explained : systemdError(what, this.address, explained)
    }
  }

  private async runJob(
    unit: string,
    member: string,
    signature: string,
    body: readonly unknown[],
    deadline: OperationDeadline,
  ): Promise<void> {
    const [job] = await this.connection.call({ member, signature, body }, deadline)
    const result = await this.jobs.wait(String(job), deadline.signal)
    if (result !== 'done')
      throw keelsonError(
        'systemd.failed',
        `${member} ${unit}: the job result is ${result}; see systemctl status ${unit}`,
        {
          unit,
          result,
        },
      )
  }

  startTransientUnit(
    unit: string,
    properties: readonly SystemdProperty[],
    options: SystemdCallOptions = {},
  ): Promise<'started' | 'existed'> {
    return this.operation(`start ${unit}`, options, async (deadline) => {
      const body = [unit, 'replace', await variants(properties), []]
      try {
        await this.runJob(unit, 'StartTransientUnit', 'ssa(sv)a(sa(sv))', body, deadline)
        return 'started'
      } catch (error) {
        if (dbusErrorName(error) !== UNIT_EXISTS) throw error
      }
      // Loaded, but perhaps not running: a unit file of this name, or one that failed.
      const state = await this.property(unit, 'Unit', 'ActiveState', deadline)
      if (state?.value !== 'active') await this.runJob(unit, 'StartUnit', 'ss', [unit, 'replace'], deadline)
      return 'existed'
    })
  }

  setUnitProperties(
    unit: string,
    properties: readonly SystemdProperty[],
    options: SystemdCallOptions = {},
  ): Promise<void> {
    return this.operation(`set properties of ${unit}`, options, async (deadline) => {
      const body = [unit, true, await variants(properties)]
      await this.connection.call({ member: 'SetUnitProperties', signature: 'sba(sv)', body }, deadline)
    })
  }

  stopUnit(unit: string, options: SystemdCallOptions = {}): Promise<'stopped' | 'absent'> {
    return this.operation(`stop ${unit}`, options, async (deadline) => {
      try {
        await this.runJob(unit, 'StopUnit', 'ss', [unit, 'replace'], deadline)
        return 'stopped'
      } catch (error) {
        if (dbusErrorName(error) === NO_SUCH_UNIT) return 'absent'
        throw error
      }
    })
  }

  unitProperty(
    unit: string,
    unitInterface: string,
    name: string,
    options: SystemdCallOptions = {},
  ): Promise<SystemdValue | undefined> {
    return this.operation(`read ${name} of ${unit}`, options, (deadline) =>
      this.property(unit, unitInterface, name, deadline),
    )
  }

  private async property(
    unit: string,
    unitInterface: string,
    name: string,
    deadline: OperationDeadline,
  ): Promise<SystemdValue | undefined> {
    try {
      const [path] = await this.connection.call({ member: 'GetUnit', signature: 's', body: [unit] }, deadline)
      return await this.get(String(path), `org.freedesktop.systemd1.${unitInterface}`, name, deadline)
    } catch (error) {
      if (dbusErrorName(error) === NO_SUCH_UNIT) return undefined
      throw error
    }
  }

  private async get(
    path: string,
    owner: string,
    name: string,
    deadline: OperationDeadline,
  ): Promise<SystemdValue> {
    const call = { path, interface: PROPERTIES, member: 'Get', signature: 'ss', body: [owner, name] }
    const [variant] = await this.connection.call(call, deadline)
    return fromVariant(variant)
  }

  version(options: SystemdCallOptions = {}): Promise<string> {
    return this.operation('read the version of systemd', options, async (deadline) => {
      const manager = 'org.freedesktop.systemd1.Manager'
      return String((await this.get('/org/freedesktop/systemd1', manager, 'Version', deadline)).value)
    })
  }

  reload(options: SystemdCallOptions = {}): Promise<void> {
    return this.operation('reload systemd', options, async (deadline) => {
      await this.connection.call({ member: 'Reload' }, deadline)
    })
  }

  onReloaded(listener: () => void): () => void {
    this.reloadListeners.add(listener)
    return () => this.reloadListeners.delete(listener)
  }

  async close(): Promise<void> {
    this.reloadListeners.clear()
    this.connection.close()
  }
}
