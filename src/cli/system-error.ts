// What the operating system refuses a command is no bug of ours: no permission, a read-only or full disk. Adapters name
// such errors where they know what was being done; this is for those that come through as they are.
import { type KeelsonError, keelsonError } from '../core/errors.js'

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; run as root, or choose another place',
  EPERM: 'not permitted; run as root',
  EROFS: 'the file system is read-only; choose another place',
  ENOSPC: 'no space left; free some, or choose another place',
  EDQUOT: 'the quota is used up; free some space, or choose another place',
  EMFILE: 'too many open files; raise the limit (ulimit -n)',
  ENFILE: 'the system has too many open files; raise fs.file-max',
  ENOTDIR: 'a part of the path is no directory; check the path',
  ENAMETOOLONG: 'the path is too long; choose a shorter one',
  ELOOP: 'the path has symbolic links in a circle; mend them',
}

/** Undefined: not an error of the operating system that a person can do something about. */
export function systemError(e: unknown): KeelsonError | undefined {
  if (!(e instanceof Error) || !('code' in e) || !('syscall' in e)) return undefined
  const remedy = remedies[String(e.code)]
  if (remedy === undefined) return undefined
  const path = 'path' in e ? ` ${String(e.path)}` : ''
  return keelsonError('system.refused', `${String(e.syscall)}${path}: ${remedy}`, { errno: e.code }, e)
}
