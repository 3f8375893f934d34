// Cgroup paths and control file names, checked before they become file names: nothing here can leave the tree.
import { keelsonError } from '../errors.js'

const invalid = (path: string, why: string) =>
  keelsonError('cgroup.invalid-path', `use cgroup path ${JSON.stringify(path)}: ${why}`, { path })

/** `/kubepods/pod1` -> ['kubepods', 'pod1']; `/` -> [] */
export function splitPath(path: string): readonly string[] {
  if (!path.startsWith('/')) throw invalid(path, 'it must begin with /')
  if (path === '/') return []
  const parts = path.slice(1).split('/')
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..')
      throw invalid(path, `${JSON.stringify(part)} is not a part of a cgroup path`)
    if (part.includes('\0')) throw invalid(path, 'it holds a NUL byte')
  }
  return parts
}

/** Undefined for the root. */
export function parentPath(path: string): string | undefined {
  const parts = splitPath(path)
  return parts.length === 0 ? undefined : `/${parts.slice(0, -1).join('/')}`
}

export const childPath = (path: string, name: string): string =>
  path === '/' ? `/${name}` : `${path}/${name}`

const controlFile = /^[A-Za-z][A-Za-z0-9_.=-]*$/

export function checkControlFile(file: string): void {
  if (!controlFile.test(file) || file.includes('..'))
    throw keelsonError(
      'cgroup.invalid-path',
      `use control file ${JSON.stringify(file)}: not a control file's name`,
      {
        file,
      },
    )
}

/** `memory.high` -> memory, `cpuacct.usage` -> cpuacct; core files (`cgroup.procs`, `tasks`) have none. */
export function controllerOf(file: string): string | undefined {
  const dot = file.indexOf('.')
  const prefix = dot < 0 ? file : file.slice(0, dot)
  return prefix === 'cgroup' || dot < 0 ? undefined : prefix
}
