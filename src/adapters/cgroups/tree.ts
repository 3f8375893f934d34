// The cgroup tree on the kernel's files: reading, writing, and the calls that the files beside carry out.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cgroupError, errnoOf } from '../../core/cgroup/errors.js'
import type { CgroupLayout } from '../../core/cgroup/layout.js'
import { controllerOf } from '../../core/cgroup/path.js'
import { keelsonError } from '../../core/errors.js'
import { nextTurn } from '../../core/units/turns.js'
import type {
  CgroupPath,
  CgroupTree,
  ControlFile,
  ControlValues,
  EnsureOptions,
  RemoveOptions,
  WalkOptions,
} from '../../ports/cgroups.js'
import { ControlReader } from './control-reader.js'
import { DescriptorCache } from './descriptors.js'
import { readWordsOf, stepsToCgroup } from './ensure.js'
import { directory, type Hierarchy, hierarchyOf } from './hierarchy.js'
import { listChildren, walkTree } from './list.js'
import { removeCgroup } from './remove.js'
import { writeOnce } from './write-once.js'

interface CgroupTreeOptions {
  /** Descriptors kept open. Default 8,192: 15 files of 500 cgroups. */
  readonly maxDescriptors?: number
}

const MAX_DESCRIPTORS = 8_192

export class CgroupFsTree implements CgroupTree {
  readonly version: 'v1' | 'v2'
  private readonly descriptors: DescriptorCache
  private readonly reader: ControlReader
  private lastMade: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly hierarchy: Hierarchy,
    { maxDescriptors = MAX_DESCRIPTORS }: CgroupTreeOptions = {},
  ) {
    this.version = hierarchy.version
    this.descriptors = new DescriptorCache(maxDescriptors, (path, file) => hierarchy.file(path, file))
    this.reader = new ControlReader(this.descriptors)
  }

  /** How many descriptors are kept at this moment. */
  get openDescriptors(): number {
    return this.descriptors.open
  }

  read(path: CgroupPath, file: ControlFile): Uint8Array | undefined {
    return this.reader.read(path, file)
  }

  write(path: CgroupPath, file: ControlFile, value: string): void {
    const target = this.hierarchy.file(path, file)
    if (target === undefined) throw this.noController(path, file, value)
    try {
      writeOnce(target, value)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && this.exists(path)) throw this.noController(path, file, value, error)
      throw cgroupError(`write ${file}=${value} to ${path}`, { path, file, value }, error)
    }
  }

  private noController(path: CgroupPath, file: ControlFile, value: string, cause?: unknown): Error {
    const controller = controllerOf(file)
    const advice =
      controller === undefined
        ? 'this kernel does not support it'
        : `is the ${controller} controller enabled there?`
    const details = { path, file, value, controller }
    return keelsonError(
      'cgroup.controller-missing',
      `write ${file}=${value} to ${path}: no such file; ${advice}`,
      details,
      cause,
    )
  }

  exists(path: CgroupPath): boolean {
    return this.hierarchy.roots.some((root) => existsSync(directory(root, path)))
  }

  controllers(path: CgroupPath): readonly string[] | undefined {
    const [root] = this.hierarchy.roots
    if (this.version === 'v2')
      return root === undefined ? undefined : readWordsOf(root, path, 'cgroup.controllers')
    const holding = [...this.hierarchy.controllers].filter(([, dir]) => existsSync(directory(dir, path)))
    return holding.length === 0 ? undefined : holding.map(([name]) => name)
  }

  children(path: CgroupPath): readonly string[] | undefined {
    return listChildren(this.hierarchy, path)
  }

  walk(path: CgroupPath, options?: WalkOptions): readonly CgroupPath[] {
    return walkTree(this.hierarchy, path, options)
  }

  /** One after the other, so that the first of many pods can start at once; each hierarchy in a turn of the event loop. */
  async ensure(path: CgroupPath, options: EnsureOptions = {}): Promise<void> {
    const made = this.lastMade.then(async () => {
      for (const step of stepsToCgroup(this.hierarchy, path, options)) {
        await nextTurn()
        options.signal?.throwIfAborted()
        step()
      }
    })
    this.lastMade = made.catch(() => undefined)
    await made
  }

  addProcess(path: CgroupPath, pid: number): void {
    for (const step of stepsToCgroup(this.hierarchy, path, {})) step()
    for (const root of this.hierarchy.roots)
      try {
        writeOnce(join(directory(root, path), 'cgroup.procs'), String(pid))
      } catch (error) {
        throw cgroupError(`move process ${pid} to ${path} in ${root}`, { path, pid }, error)
      }
  }

  async apply(path: CgroupPath, values: ControlValues, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    for (const [file, value] of Object.entries(values)) this.write(path, file, value)
  }

  async remove(path: CgroupPath, options?: RemoveOptions): Promise<void> {
    await removeCgroup(this.hierarchy, path, options)
    this.descriptors.drop(path)
  }

  forget(path: CgroupPath): void {
    this.descriptors.drop(path)
  }

  close(): void {
    this.descriptors.close()
  }
}

/** The tree that carries the controllers of this machine. */
export const createCgroupTree = (layout: CgroupLayout, options?: CgroupTreeOptions): CgroupFsTree =>
  new CgroupFsTree(hierarchyOf(layout), options)
