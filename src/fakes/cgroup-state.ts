// The state behind the fake cgroup tree, with the kernel's rules. Calls answer undefined, or an errno word.
import { childPath, parentPath } from '../core/cgroup/path.js'
import type { CgroupPath } from '../ports/cgroups.js'
import { type FakeFile, filesV1, filesV2 } from './cgroup-files.js'

export interface FakeCgroupsOptions {
  readonly version?: 'v1' | 'v2'
  /** Controllers of the root. Default on v2: cpu io memory pids. */
  readonly controllers?: readonly string[]
  readonly pageSize?: bigint
}

interface FakeCgroup {
  readonly values: Map<string, string>
  readonly procs: Set<number>
  readonly subtree: Set<string>
}

const coreFiles = ['cgroup.controllers', 'cgroup.subtree_control', 'cgroup.procs', 'cgroup.events']

export class FakeCgroups {
  readonly version: 'v1' | 'v2'
  private readonly rootControllers: readonly string[]
  private readonly pageSize: bigint
  private readonly cgroups = new Map<CgroupPath, FakeCgroup>()

  constructor({ version = 'v2', controllers, pageSize = 4096n }: FakeCgroupsOptions) {
    this.version = version
    this.pageSize = pageSize
    this.rootControllers =
      controllers ?? (version === 'v2' ? ['cpu', 'io', 'memory', 'pids'] : Object.keys(filesV1))
    this.cgroups.set('/', this.fresh())
  }

  private fresh(): FakeCgroup {
    return { values: new Map(), procs: new Set(), subtree: new Set() }
  }

  has(path: CgroupPath): boolean {
    return this.cgroups.has(path)
  }

  available(path: CgroupPath): readonly string[] {
    const parent = parentPath(path)
    return this.version === 'v1' || parent === undefined
      ? this.rootControllers
      : this.rootControllers.filter((name) => this.cgroups.get(parent)?.subtree.has(name))
  }

  enabled(path: CgroupPath): readonly string[] {
    return [...(this.cgroups.get(path)?.subtree ?? [])]
  }

  children(path: CgroupPath): readonly string[] {
    return [...this.cgroups.keys()]
      .filter((other) => other !== '/' && parentPath(other) === path)
      .map((other) => other.slice(path === '/' ? 1 : path.length + 1))
      .sort()
  }

  create(path: CgroupPath): string | undefined {
    if (this.cgroups.has(path)) return 'EEXIST'
    const parent = parentPath(path)
    if (parent === undefined || !this.cgroups.has(parent)) return 'ENOENT'
    this.cgroups.set(path, this.fresh())
    return undefined
  }

  removeDirectory(path: CgroupPath): string | undefined {
    const cgroup = this.cgroups.get(path)
    if (cgroup === undefined) return 'ENOENT'
    if (path === '/' || cgroup.procs.size > 0 || this.children(path).length > 0) return 'EBUSY'
    this.cgroups.delete(path)
    return undefined
  }

  private definition(path: CgroupPath, file: string): FakeFile | undefined {
    const controller = file.slice(0, file.indexOf('.'))
    if (!this.available(path).includes(controller)) return undefined
    const definition = (this.version === 'v2' ? filesV2 : filesV1)[controller]?.[file]
    return this.version === 'v2' && path === '/' && definition?.inRoot !== true ? undefined : definition
  }

  /** Content without its last newline. Undefined: no such file. */
  text(path: CgroupPath, file: string): string | undefined {
    const cgroup = this.cgroups.get(path)
    if (cgroup === undefined) return undefined
    if (file === 'cgroup.procs') return [...cgroup.procs].join('\n')
    if (this.version === 'v2' && coreFiles.includes(file)) return this.coreText(path, cgroup, file)
    const definition = this.definition(path, file)
    return definition === undefined ? undefined : (cgroup.values.get(file) ?? definition.initial)
  }

  private coreText(path: CgroupPath, cgroup: FakeCgroup, file: string): string | undefined {
    if (file === 'cgroup.controllers') return this.available(path).join(' ')
    if (file === 'cgroup.subtree_control') return [...cgroup.subtree].join(' ')
    if (path === '/') return undefined
    const populated = this.isPopulated(path) ? 1 : 0
    return `populated ${populated}\nfrozen 0`
  }

  private isPopulated(path: CgroupPath): boolean {
    if ((this.cgroups.get(path)?.procs.size ?? 0) > 0) return true
    return this.children(path).some((name) => this.isPopulated(childPath(path, name)))
  }

  /** As if the kernel counted: no rules, no record. */
  setText(path: CgroupPath, file: string, text: string): void {
    this.cgroups.get(path)?.values.set(file, text)
  }

  write(path: CgroupPath, file: string, value: string): string | undefined {
    const cgroup = this.cgroups.get(path)
    if (cgroup === undefined) return 'ENOENT'
    if (file === 'cgroup.procs') return this.attach(path, Number(value))
    if (file === 'cgroup.subtree_control' && this.version === 'v2') return this.control(path, cgroup, value)
    const definition = this.definition(path, file)
    if (definition === undefined) return 'ENOENT'
    if (definition.write === undefined) return 'EINVAL'
    const result = definition.write(value, { pageSize: this.pageSize })
    if (typeof result !== 'string') return result.errno
    cgroup.values.set(file, result)
    return undefined
  }

  /** v2: processes stand in leaves only. */
  attach(path: CgroupPath, pid: number): string | undefined {
    const cgroup = this.cgroups.get(path)
    if (cgroup === undefined) return 'ENOENT'
    if (!Number.isSafeInteger(pid) || pid <= 0) return 'EINVAL'
    if (this.version === 'v2' && path !== '/' && cgroup.subtree.size > 0) return 'EBUSY'
    this.detach(pid)
    cgroup.procs.add(pid)
    return undefined
  }

  detach(pid: number): void {
    for (const cgroup of this.cgroups.values()) cgroup.procs.delete(pid)
  }

  private control(path: CgroupPath, cgroup: FakeCgroup, value: string): string | undefined {
    const orders = value.split(/\s+/).filter((word) => word !== '')
    const known = Object.keys(filesV2)
    if (orders.some((order) => !/^[+-]/.test(order) || !known.includes(order.slice(1)))) return 'EINVAL'
    const on = orders.filter((order) => order.startsWith('+')).map((order) => order.slice(1))
    const off = orders.filter((order) => order.startsWith('-')).map((order) => order.slice(1))
    if (on.some((name) => !this.available(path).includes(name))) return 'ENOENT'
    if (on.length > 0 && path !== '/' && cgroup.procs.size > 0) return 'EBUSY'
    const usedBelow = (name: string) =>
      this.children(path).some((child) => this.cgroups.get(childPath(path, child))?.subtree.has(name))
    if (off.some(usedBelow)) return 'EBUSY'
    for (const name of on) cgroup.subtree.add(name)
    for (const name of off) this.disable(path, cgroup, name)
    return undefined
  }

  /** The children lose the controller's files; enabled again they start with the defaults. */
  private disable(path: CgroupPath, cgroup: FakeCgroup, name: string): void {
    cgroup.subtree.delete(name)
    for (const child of this.children(path)) {
      const values = this.cgroups.get(childPath(path, child))?.values
      for (const file of [...(values?.keys() ?? [])]) if (file.startsWith(`${name}.`)) values?.delete(file)
    }
  }
}
