// Errno of a cgroup operation -> our error, with what was being done and what to try.
import { type ErrorCode, isKeelsonError, type KeelsonError, keelsonError } from '../errors.js'

export const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The file or its cgroup is not there (any more), or the kernel has the file but not the feature (PSI switched off). */
export const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENODEV', 'EOPNOTSUPP', 'ENOTSUP', 'ENOTDIR'].includes(errnoOf(error))

const table: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  EACCES: ['cgroup.denied', 'permission denied; is the subtree delegated to this user?'],
  EPERM: ['cgroup.denied', 'not permitted; is the subtree delegated to this user?'],
  EROFS: ['cgroup.denied', 'the hierarchy is mounted read-only; mount it read-write'],
  ENOENT: ['cgroup.gone', 'no such cgroup; create it first'],
  ENODEV: ['cgroup.gone', 'the cgroup has been removed'],
  ENOTDIR: ['cgroup.gone', 'a part of the path is not a cgroup'],
  EBUSY: ['cgroup.busy', 'in use; processes and children must leave first'],
  ENOTEMPTY: ['cgroup.busy', 'not empty; children must be removed first'],
  EINVAL: ['cgroup.invalid-value', 'the kernel does not take this value; see its documentation of the file'],
  ERANGE: ['cgroup.invalid-value', 'out of range; see the kernel documentation of the file'],
  E2BIG: ['cgroup.invalid-value', 'too long; see the kernel documentation of the file'],
  ESRCH: ['cgroup.invalid-value', 'no such process; it may have ended'],
  EOPNOTSUPP: ['cgroup.invalid-value', 'not possible in a cgroup of this kind; is it threaded?'],
}

/** `what`: the operation and its object, e.g. `write memory.high=4096 to /kubepods`. */
export function cgroupError(
  what: string,
  details: Readonly<Record<string, unknown>>,
  cause: unknown,
): KeelsonError {
  if (isKeelsonError(cause)) return cause
  const errno = errnoOf(cause)
  const [code, advice] = table[errno] ?? ['cgroup.failed', `${errno || String(cause)}; see the cause`]
  return keelsonError(code, `${what}: ${advice}`, { ...details, errno }, cause)
}
