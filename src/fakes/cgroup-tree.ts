// A cgroup tree in memory that behaves like the kernel's: page flooring, `max`, files that exist only with their
// controller, EBUSY, ENOENT, and effective protection capped by ancestors. Tests also reach behind the port.
import { cgroupError } from '../core/cgroup/errors.js'
import { checkControlFile, childPath, parentPath, splitPath } from '../core/cgroup/path.js'
import { keelsonError } from '../core/errors.js'
import { type EffectiveProtection, effectiveProtection } from '../core/memory-qos/effective-protection.js'
import type { CgroupPath, CgroupTree, ControlValues, EnsureOptions, WalkOptions } from '../ports/cgroups.js'
import { FakeCgroups, type FakeCgroupsOptions } from './cgroup-state.js'

/** Everything that changed something through the port, in order. */
interface CgroupCall {
  readonly call: 'write' | 'create' | 'remove'
  readonly path: CgroupPath
  readonly file?: string
  readonly value?: string
}

const encoder = new TextEncoder()

const errno = (code: string): Error => Object.assign(new Error(code), { code })

export class FakeCgroupTree implements CgroupTree {
  readonly version: 'v1' | 'v2'
  readonly calls: CgroupCall[] = []
  /** The kernel behind the port: what other programs do to it. */
  readonly kernel: FakeCgroups
  private readonly refusals = new Map<string, string>()

  constructor(options: FakeCgroupsOptions = {}) {
    this.kernel = new FakeCgroups(options)
    this.version = this.kernel.version
  }

  /** Every later write to this file ends in the errno; undefined makes it work again. */
  refuse(path: CgroupPath, file: string, code: string | undefined): void {
    if (code === undefined) this.refusals.delete(`${path} ${file}`)
    else this.refusals.set(`${path} ${file}`, code)
  }

  read(path: CgroupPath, file: string): Uint8Array | undefined {
    splitPath(path)
    checkControlFile(file)
    const text = this.kernel.text(path, file)
    return text === undefined ? undefined : encoder.encode(text === '' ? '' : `${text}\n`)
  }

  write(path: CgroupPath, file: string, value: string): void {
    splitPath(path)
    checkControlFile(file)
    const code = this.refusals.get(`${path} ${file}`) ?? this.kernel.write(path, file, value)
    if (code === undefined) {
      this.calls.push({ call: 'write', path, file, value })
      return
    }
    const what = `write ${file}=${value} to ${path}`
    if (code === 'ENOENT' && this.exists(path))
      throw keelsonError(
        'cgroup.controller-missing',
        `${what}: no such file`,
        { path, file, value },
        errno(code),
      )
    throw cgroupError(what, { path, file, value }, errno(code))
  }

  exists(path: CgroupPath): boolean {
    splitPath(path)
    return this.kernel.has(path)
  }

  controllers(path: CgroupPath): readonly string[] | undefined {
    splitPath(path)
    return this.kernel.has(path) ? this.kernel.available(path) : undefined
  }

  children(path: CgroupPath): readonly string[] | undefined {
    splitPath(path)
    return this.kernel.has(path) ? this.kernel.children(path) : undefined
  }

  walk(
    path: CgroupPath,
    { maxDepth = 16, maxCgroups = 100_000, isLeaf }: WalkOptions = {},
  ): readonly CgroupPath[] {
    const found: CgroupPath[] = []
    const visit = (at: CgroupPath, depth: number): void => {
      const names = this.children(at)
      if (names === undefined || found.length >= maxCgroups) return
      found.push(at)
      if (depth >= maxDepth) return
      for (const name of names) {
        const below = childPath(at, name)
        if (isLeaf?.(name) === true) found.push(below)
        else visit(below, depth + 1)
      }
    }
    visit(path, 0)
    return found
  }

  async ensure(path: CgroupPath, { controllers, signal }: EnsureOptions = {}): Promise<void> {
    let at: CgroupPath = '/'
    for (const name of splitPath(path)) {
      signal?.throwIfAborted()
      this.enable(at, controllers)
      at = childPath(at, name)
      if (this.kernel.create(at) === undefined) this.calls.push({ call: 'create', path: at })
    }
  }

  private enable(path: CgroupPath, required: readonly string[] | undefined): void {
    const available = this.kernel.available(path)
    const missing = (required ?? []).filter((name) => !available.includes(name))
    if (missing.length > 0)
      throw keelsonError(
        'cgroup.controller-missing',
        `enable ${missing.join(', ')} below ${path}: not available`,
        {
          path,
          missing,
          available,
        },
      )
    const enabled = this.kernel.enabled(path)
    const lacking = (required ?? available).filter((name) => !enabled.includes(name))
    if (this.version === 'v1' || lacking.length === 0) return
    this.write(path, 'cgroup.subtree_control', lacking.map((name) => `+${name}`).join(' '))
  }

  addProcess(path: CgroupPath, pid: number): void {
    let at: CgroupPath = '/'
    for (const name of splitPath(path)) {
      at = childPath(at, name)
      if (this.kernel.create(at) === undefined) this.calls.push({ call: 'create', path: at })
    }
    this.kernel.detach(pid)
    this.kernel.attach(path, pid)
  }

  async apply(path: CgroupPath, values: ControlValues, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    for (const [file, value] of Object.entries(values)) this.write(path, file, value)
  }

  async remove(path: CgroupPath): Promise<void> {
    if (path === '/')
      throw keelsonError('cgroup.invalid-path', 'remove /: the root cgroup cannot be removed', { path })
    for (const one of this.walk(path).toReversed()) {
      const code = this.kernel.removeDirectory(one)
      if (code !== undefined) throw cgroupError(`remove ${one}`, { path: one }, errno(code))
      this.calls.push({ call: 'remove', path: one })
    }
  }

  /** What the kernel really protects, by cgroup; usage is memory.current. */
  effective(file: 'memory.min' | 'memory.low'): ReadonlyMap<CgroupPath, EffectiveProtection> {
    const amount = (path: CgroupPath, name: string): bigint => {
      const text = this.kernel.text(path, name) ?? '0'
      return text === 'max' ? 2n ** 63n : BigInt(text)
    }
    const below = this.walk('/').filter((path) => path !== '/')
    return effectiveProtection(
      below.map((path) => {
        const parent = parentPath(path)
        const nodeParent = parent === '/' ? undefined : parent
        return {
          path,
          parent: nodeParent,
          setting: amount(path, file),
          usage: amount(path, 'memory.current'),
        }
      }),
    )
  }

  forget(): void {}

  close(): void {}
}
