// systemd in memory, on top of the fake cgroup tree: it keeps the properties of each slice and writes all of them to the
// files at every change and reload, which is how values that live only in a file get lost.
import { childPath } from '../core/cgroup/path.js'
import {
  parentSlice,
  type SystemdProperty,
  type SystemdValue,
  systemdInfinity,
} from '../core/cgroup/systemd-properties.js'
import { keelsonError } from '../core/errors.js'
import type { CgroupPath } from '../ports/cgroups.js'
import type { Systemd } from '../ports/systemd.js'
import type { FakeCgroupTree } from './cgroup-tree.js'

/** What the file holds when the property was never set. */
const files: Readonly<Record<string, readonly [file: string, initial: string]>> = {
  MemoryMin: ['memory.min', '0'],
  MemoryLow: ['memory.low', '0'],
  MemoryHigh: ['memory.high', 'max'],
  MemoryMax: ['memory.max', 'max'],
  CPUWeight: ['cpu.weight', '100'],
  TasksMax: ['pids.max', 'max'],
}

/** `a-b.slice` -> `/a.slice/a-b.slice` */
function slicePath(unit: string): CgroupPath {
  const parent = parentSlice(unit)
  return childPath(parent === undefined ? '/' : slicePath(parent), unit)
}

const amount = (value: bigint): string => (value === systemdInfinity ? 'max' : value.toString())

function cpuMax(properties: ReadonlyMap<string, SystemdValue>): string {
  const perSecond = properties.get('CPUQuotaPerSecUSec')?.value
  const period = properties.get('CPUQuotaPeriodUSec')?.value
  const periodMicros = typeof period === 'bigint' && period !== systemdInfinity ? period : 100_000n
  if (typeof perSecond !== 'bigint' || perSecond === systemdInfinity) return `max ${periodMicros}`
  return `${(perSecond * periodMicros) / 1_000_000n} ${periodMicros}`
}

export class FakeSystemd implements Systemd {
  /** Requests, in order: `start a.slice`, `set a.slice MemoryMin=1 ...`, `stop a.slice`. */
  readonly calls: string[] = []
  private readonly units = new Map<string, Map<string, SystemdValue>>()
  private readonly listeners = new Set<() => void>()

  constructor(private readonly tree: FakeCgroupTree) {}

  async startTransientUnit(
    unit: string,
    properties: readonly SystemdProperty[],
  ): Promise<'started' | 'existed'> {
    if (this.units.has(unit)) return 'existed'
    this.calls.push(`start ${unit}`)
    const parent = parentSlice(unit)
    if (parent !== undefined) await this.startTransientUnit(parent, [])
    const path = slicePath(unit)
    await this.tree.ensure(path)
    this.units.set(unit, new Map(properties.map((p) => [p.name, p.value])))
    this.realize(unit)
    return 'started'
  }

  async setUnitProperties(unit: string, properties: readonly SystemdProperty[]): Promise<void> {
    const stored = this.units.get(unit)
    this.calls.push(`set ${unit} ${properties.map((p) => `${p.name}=${p.value.value}`).join(' ')}`)
    if (stored === undefined)
      throw keelsonError('systemd.failed', `set properties of ${unit}: not loaded`, { unit })
    for (const { name, value } of properties) stored.set(name, value)
    this.realize(unit)
  }

  async stopUnit(unit: string): Promise<'stopped' | 'absent'> {
    if (!this.units.delete(unit)) return 'absent'
    this.calls.push(`stop ${unit}`)
    this.tree.kernel.removeDirectory(slicePath(unit))
    return 'stopped'
  }

  async unitProperty(unit: string, _interface: string, name: string): Promise<SystemdValue | undefined> {
    return this.units.get(unit)?.get(name)
  }

  async version(): Promise<string> {
    return '252 (fake)'
  }

  async reload(): Promise<void> {
    for (const unit of this.units.keys()) this.realize(unit)
    for (const listener of [...this.listeners]) listener()
  }

  onReloaded(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  async close(): Promise<void> {}

  private realize(unit: string): void {
    const stored = this.units.get(unit) ?? new Map<string, SystemdValue>()
    const path = slicePath(unit)
    for (const [name, [file, initial]] of Object.entries(files)) {
      const value = stored.get(name)?.value
      this.tree.kernel.write(path, file, typeof value === 'bigint' ? amount(value) : initial)
    }
    this.tree.kernel.write(path, 'cpu.max', cpuMax(stored))
  }
}
