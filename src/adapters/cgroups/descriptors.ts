// Descriptors of control files that stay open between sweeps, grouped by cgroup. The number of open ones is bounded:
// at the limit, all descriptors of the least recently read cgroup are closed.
import { closeSync, existsSync, openSync } from 'node:fs'
import { errnoOf, isAbsent } from '../../core/cgroup/errors.js'

interface KeptCgroup {
  readonly files: Map<string, number>
}

export class DescriptorCache {
  private readonly cgroups = new Map<string, KeptCgroup>()
  private lastPath: string | undefined
  private last: KeptCgroup | undefined
  private count = 0

  constructor(
    private readonly maxOpen: number,
    private readonly locate: (path: string, file: string) => string | undefined,
  ) {}

  get open(): number {
    return this.count
  }

  /** Undefined: there is no such file. */
  get(path: string, file: string): number | undefined {
    return this.touch(path)?.files.get(file) ?? this.openFile(path, file)
  }

  /** A sweep reads the files of one cgroup in a row: only the first of them pays for the order of use. */
  private touch(path: string): KeptCgroup | undefined {
    if (path === this.lastPath) return this.last
    const cgroup = this.cgroups.get(path)
    if (cgroup !== undefined) {
      this.cgroups.delete(path)
      this.cgroups.set(path, cgroup)
      this.lastPath = path
      this.last = cgroup
    }
    return cgroup
  }

  private openFile(path: string, file: string): number | undefined {
    const target = this.locate(path, file)
    // A thrown ENOENT costs ten times this question, and absent files are asked for in every sweep.
    if (target === undefined || !existsSync(target)) return undefined
    while (this.count >= this.maxOpen && this.dropOldest());
    const fd = this.tryOpen(target)
    if (fd === undefined) return undefined
    const cgroup = this.cgroups.get(path) ?? { files: new Map<string, number>() }
    this.cgroups.set(path, cgroup)
    cgroup.files.set(file, fd)
    this.count++
    this.lastPath = path
    this.last = cgroup
    return fd
  }

  private tryOpen(target: string): number | undefined {
    for (;;) {
      try {
        return openSync(target, 'r')
      } catch (error) {
        if (isAbsent(error)) return undefined
        // The process as a whole is out of descriptors: give back ours before failing.
        if (!['EMFILE', 'ENFILE'].includes(errnoOf(error)) || !this.dropOldest()) throw error
      }
    }
  }

  private dropOldest(): boolean {
    const oldest = this.cgroups.keys().next()
    if (oldest.done) return false
    this.drop(oldest.value)
    return true
  }

  /** Closes what is kept of one cgroup: it has gone, or another one took its name. */
  drop(path: string): void {
    const cgroup = this.cgroups.get(path)
    if (cgroup === undefined) return
    this.cgroups.delete(path)
    if (this.lastPath === path) {
      this.lastPath = undefined
      this.last = undefined
    }
    this.count -= cgroup.files.size
    for (const fd of cgroup.files.values()) closeSync(fd)
  }

  close(): void {
    for (const path of [...this.cgroups.keys()]) this.drop(path)
  }
}
