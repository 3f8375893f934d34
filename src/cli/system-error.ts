// What the operating system refuses a command is no bug of ours: no permission, a read-only or full disk. Adapters name
// such errors where they know what was being done; this is for those that come through as they are.
import { type KeelsonError, keelsonError } from '../core/errors.js'

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; run as root, or choose another path',
  EPERM: 'not permitted; run as root',
  EROFS: 'the file system is read-only; choose another path',
  ENOSPC: 'no space left on the device; free space, or choose another path',
  EDQUOT: 'disk quota exceeded; free space, or choose another path',
  EMFILE: 'too many open files; raise the limit (ulimit -n)',
  ENFILE: 'the system has too many open files; raise fs.file-max',
  ENOTDIR: 'a part of the path is not a directory; check the path',
  ENAMETOOLONG: 'the path is too long; choose a shorter one',
  ELOOP: 'the path has a loop of symbolic links; fix them',
}

/** Undefined: not an error of the operating system that a person can do something about. */
export function systemError(e: unknown): KeelsonError | undefined {
  if (!(e instanceof Error) || !('code' in e) || !('syscall' in e)) return undefined
  const remedy = remedies[String(e.code)]
  if (remedy === undefined) return undefined
  const path = 'path' in e ? ` ${String(e.path)}` : ''
  return keelsonError('system.refused', `${String(e.syscall)}${path}: ${remedy}`, { errno: e.code }, e)
}
