// Writes a snapshot as a cgroup hierarchy (one directory, or one per controller) and a /proc.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Hierarchy,
  splitHierarchy,
  unifiedHierarchy,
} from '../../../../src/adapters/cgroups/hierarchy.js'
import { type Fields, fieldsAt, isFields, textAt } from '../../types.js'

export interface LaidOut {
  readonly hierarchy: Hierarchy
  /** The container's cgroup. */
  readonly path: string
  readonly proc: string
  /** A process in the pod's network namespace. */
  readonly networkPid: number
}

const cgroup = 'container'

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function writeProcess(directory: string, process: Fields): void {
  const fd = isFields(process.fd) ? process.fd : {}
  mkdirSync(join(directory, 'fd'), { recursive: true })
  for (const [number, target] of Object.entries(fd))
    symlinkSync(String(target), join(directory, 'fd', number))
  if (typeof process.limits === 'string') write(join(directory, 'limits'), process.limits)
}

function hierarchyOf(snapshot: Fields, files: Fields, root: string): Hierarchy {
  if (snapshot.cgroupVersion === 2) return unifiedHierarchy(root)
  const names = new Set(Object.keys(files).map((path) => path.split('/', 1)[0] ?? ''))
  return splitHierarchy(new Map([...names].map((name) => [name, join(root, name)])))
}

export function layOut(snapshot: Fields, directory: string): LaidOut {
  const root = join(directory, 'cgroup')
  const proc = join(directory, 'proc')
  const files = fieldsAt(snapshot, 'files')
  mkdirSync(join(root, cgroup), { recursive: true })
  mkdirSync(proc)
  for (const name of Object.keys(files)) {
    const slash = name.indexOf('/')
    const at = slash < 0 ? [cgroup, name] : [name.slice(0, slash), cgroup, name.slice(slash + 1)]
    write(join(root, ...at), textAt(files, name))
  }
  const processes = isFields(snapshot.proc) ? snapshot.proc : {}
  for (const [pid, process] of Object.entries(processes))
    writeProcess(join(proc, pid), isFields(process) ? process : {})
  const networkPid = 1
  if (typeof snapshot.netDev === 'string') write(join(proc, String(networkPid), 'net/dev'), snapshot.netDev)
  return { hierarchy: hierarchyOf(snapshot, files, root), path: `/${cgroup}`, proc, networkPid }
}
