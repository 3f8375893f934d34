// What a run may leave on a machine, found by a marker: the run's own temporary directory, which its processes and mounts
// cannot help naming.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Processes whose command line, environment or mapped files name the directory; our own test process does not count. */
export function processesNaming(dir: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .flatMap((pid) => {
      const files = ['cmdline', 'environ', 'maps'].map((f) => read(`/proc/${pid}/${f}`))
      return files.some((text) => text.includes(dir)) ? [`${pid} ${read(`/proc/${pid}/comm`).trim()}`] : []
    })
}

/** Mounts at or of the directory, and namespaces that a mount keeps alive. */
export const mountsNaming = (dir: string): string[] =>
  read('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.includes(dir))

/** Namespaces without a process live only as mounts of nsfs. */
export const keptNamespaces = (): string[] =>
  read('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.includes(' - nsfs '))

export interface Leftovers {
  readonly processes: readonly string[]
  readonly mounts: readonly string[]
  readonly files: readonly string[]
}

export const leftoversOf = (dir: string): Leftovers => ({
  processes: processesNaming(dir),
  mounts: mountsNaming(dir),
  files: existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [],
})

export const isClean = (l: Leftovers): boolean =>
  l.processes.length === 0 && l.mounts.length === 0 && l.files.length === 0
