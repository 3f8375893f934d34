// Reading what may not be there: a process that has ended, a file that this kernel does not have.

/** ENOENT and ESRCH: no such process. EACCES, EPERM: of another user. EOPNOTSUPP: PSI switched off at boot. */
const errnos = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR', 'EINVAL', 'EOPNOTSUPP', 'ENOTSUP']

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && errnos.includes(String(error.code))

export function absent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
