// Emptying a directory, with a guard: a link or a setting must not turn it into emptying the system.
import { keelsonError } from '../../core/errors.js'
import type { NodeFiles } from '../../ports/bootstrap.js'
import { stateDirectory } from '../paths.js'

const kept = new Set(
  '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/bin /usr/lib /usr/local /usr/share /var /var/lib /var/log /var/run /etc/kubernetes'.split(
    ' ',
  ),
)

/** Undefined: not there. A link is resolved, as kubeadm does; where it leads is checked. */
export async function resolveToEmpty(files: NodeFiles, path: string): Promise<string | undefined> {
  const real = await files.resolve(path)
  if (real === undefined) return undefined
  if (kept.has(real) || !path.startsWith('/') || path.split('/').includes('..'))
    throw keelsonError(
      'node.refused',
      `delete the contents of ${path}: it is a link to ${real}, a system directory`,
      {
        path,
        real,
      },
    )
  const found = await files.stat(real)
  if (found?.kind !== 'directory')
    throw keelsonError('node.refused', `delete the contents of ${path}: ${real} is not a directory`, {
      path,
      real,
    })
  return real
}

export async function emptyDirectories(files: NodeFiles, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const real = await resolveToEmpty(files, path)
    if (real !== undefined) await files.removeContents(real)
  }
}

/** Directories of a reverted change; one with other files stays. */
export async function removeDirectories(files: NodeFiles, paths: readonly string[]): Promise<void> {
  for (const path of paths) await files.removeEmptyDirectory(path).catch(() => undefined)
}

/** Cannot be empty while a change is under way. */
export const holdsState = (directory: string): boolean => `${stateDirectory}/`.startsWith(`${directory}/`)
