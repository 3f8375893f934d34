// What is remembered of each file between passes, by cgroup path.

import type { QosFile } from '../core/memory-qos/targets.js'
import type { CgroupPath } from '../ports/cgroups.js'
import { type FileHistory, noHistory } from './decide/decide.js'

interface Judged {
  readonly observation: { readonly path: CgroupPath }
  readonly input: { readonly file: QosFile }
}

export class FileHistories {
  private readonly byPath = new Map<CgroupPath, Map<QosFile, FileHistory>>()

  get(path: CgroupPath, file: QosFile): FileHistory {
    return this.byPath.get(path)?.get(file) ?? noHistory
  }

  set({ observation: { path }, input: { file } }: Judged, history: FileHistory): void {
    const files = this.byPath.get(path) ?? new Map<QosFile, FileHistory>()
    files.set(file, history)
    this.byPath.set(path, files)
  }

  keep(present: ReadonlySet<CgroupPath>): void {
    for (const path of [...this.byPath.keys()]) if (!present.has(path)) this.byPath.delete(path)
  }
}
