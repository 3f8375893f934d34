// The cgroup tree under the systemd driver: slices come and go through D-Bus, and a value is set as a property of its slice
// and in the file. systemd re-applies its stored properties at every change and reload, so a value in the file alone is lost,
// and every request carries all values that we own there.
import { childPath, splitPath } from '../../core/cgroup/path.js'
import { newSliceProperties, parentSlice, systemdProperties } from '../../core/cgroup/systemd-properties.js'
import { keelsonError } from '../../core/errors.js'
import { isSettled } from '../../core/kernel-text/read-back.js'
import { decodeText } from '../../core/kernel-text/words.js'
import type {
  CgroupPath,
  CgroupTree,
  ControlFile,
  ControlValues,
  EnsureOptions,
  RemoveOptions,
  WalkOptions,
} from '../../ports/cgroups.js'
import type { Systemd } from '../../ports/systemd.js'

interface SystemdCgroupTreeOptions {
  /** The kernel's files of the same hierarchy. */
  readonly files: CgroupTree
  readonly systemd: Systemd
  readonly pageSize: bigint
}

const SUFFIX = '.slice'

/** `/kubepods.slice/kubepods-a.slice` -> ['kubepods.slice', 'kubepods-a.slice'] */
function slicesOf(path: CgroupPath): readonly string[] {
  const units = splitPath(path)
  const wrong = units.find((unit) => !unit.endsWith(SUFFIX))
  if (wrong !== undefined)
    throw keelsonError('cgroup.invalid-path', `manage ${path} through systemd: ${wrong} is not a slice`, {
      path,
    })
  return units
}

const sliceOf = (path: CgroupPath): string => slicesOf(path).at(-1) ?? '-.slice'

export class SystemdCgroupTree implements CgroupTree {
  private readonly files: CgroupTree
  private readonly systemd: Systemd
  private readonly pageSize: bigint
  /** All that we ever set on a slice. */
  private readonly owned = new Map<CgroupPath, ControlValues>()

  constructor({ files, systemd, pageSize }: SystemdCgroupTreeOptions) {
    this.files = files
    this.systemd = systemd
    this.pageSize = pageSize
  }

  get version(): 'v1' | 'v2' {
    return this.files.version
  }

  read(path: CgroupPath, file: ControlFile): Uint8Array | undefined {
    return this.files.read(path, file)
  }

  /** The file alone: lasts until systemd next applies what it has stored. */
  write(path: CgroupPath, file: ControlFile, value: string): void {
    this.files.write(path, file, value)
  }

  exists(path: CgroupPath): boolean {
    return this.files.exists(path)
  }

  controllers(path: CgroupPath): readonly string[] | undefined {
    return this.files.controllers(path)
  }

  children(path: CgroupPath): readonly string[] | undefined {
    return this.files.children(path)
  }

  walk(path: CgroupPath, options?: WalkOptions): readonly CgroupPath[] {
    return this.files.walk(path, options)
  }

  async ensure(path: CgroupPath, options: EnsureOptions = {}): Promise<void> {
    let at: CgroupPath = '/'
    for (const unit of slicesOf(path)) {
      at = childPath(at, unit)
      if (this.files.exists(at)) continue
      this.owned.delete(at)
      const call = options.signal === undefined ? {} : { signal: options.signal }
      await this.systemd.startTransientUnit(unit, newSliceProperties(unit, parentSlice(unit)), call)
    }
    // systemd enables the controllers that it accounts for; hugetlb and cpuset are left to us.
    await this.files.ensure(path, options)
  }

  addProcess(path: CgroupPath, pid: number): void {
    this.files.addProcess(path, pid)
  }

  async apply(path: CgroupPath, values: ControlValues, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const all = { ...this.owned.get(path), ...values }
    const properties = systemdProperties(all)
    if (properties.length > 0)
      await this.systemd.setUnitProperties(sliceOf(path), properties, signal === undefined ? {} : { signal })
    this.owned.set(path, all)
    for (const [file, value] of Object.entries(values)) {
      const now = this.files.read(path, file)
      if (now === undefined || !isSettled(file, value, decodeText(now), this.pageSize))
        this.files.write(path, file, value)
    }
  }

  /** Stopping a slice would stop what runs in it: a populated one is refused before systemd is asked. */
  async remove(path: CgroupPath, options: RemoveOptions = {}): Promise<void> {
    if (path === '/')
      throw keelsonError('cgroup.invalid-path', 'remove /: the root cgroup cannot be removed', { path })
    const busy = this.files.walk(path).find((one) => (this.files.read(one, 'cgroup.procs')?.length ?? 0) > 0)
    if (busy !== undefined && options.killProcesses !== true)
      throw keelsonError('cgroup.busy', `remove ${path}: ${busy} still has processes; stop them first`, {
        path,
        busy,
      })
    for (const one of this.files.walk(path).toReversed()) {
      const unit = splitPath(one).at(-1) ?? ''
      if (unit.endsWith(SUFFIX))
        await this.systemd.stopUnit(unit, options.signal === undefined ? {} : { signal: options.signal })
      this.owned.delete(one)
    }
    // What systemd did not make, or leaves behind.
    await this.files.remove(path, options)
  }

  forget(path: CgroupPath): void {
    this.files.forget(path)
  }

  close(): void {
    this.files.close()
  }
}
