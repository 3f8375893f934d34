// Removal of directories that may hold mounts: nothing that is mounted below is ever deleted through the mount.
import { execFile } from 'node:child_process'
import { lstat, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { mountPointsAt } from '../../core/kernel-text/mountinfo.js'
import { isMissing } from '../files/read.js'
import { failed, resolvePath } from './directories.js'
import { createMountList } from './mount-list.js'
import { removeDirectory } from './remove-directory.js'

const run = promisify(execFile)
const timeoutMs = 30_000

/** As the kernel names it: the way to it has no links. The name itself is not followed. */
const placeOf = async (path: string): Promise<string> =>
  join(await resolvePath(dirname(path)), basename(path))

const mountList = createMountList(() => readFile('/proc/self/mountinfo', 'utf8'))

const mountsAt = async (place: string): Promise<readonly string[]> => mountPointsAt(await mountList(), place)

async function unmountAll(place: string): Promise<void> {
  const points = await mountsAt(place)
  if (points.length === 0) return
  for (const point of points.toReversed()) await run('umount', [point], { timeout: timeoutMs })
  // Asked again: what is still mounted, or mounted again, holds data.
  const left = await mountsAt(place)
  if (left.length > 0) throw new Error(`${left.join(', ')} is still mounted`)
}

const exists = (place: string): Promise<boolean> =>
  lstat(place).then(
    () => true,
    (e: unknown) => !isMissing(e),
  )

export async function removeTree(path: string): Promise<void> {
  try {
    const place = await placeOf(path)
    // Most pods have no directory for parts of volumes, and the kernel's list of mounts is long where pods are many.
    if (!(await exists(place))) return
    await unmountAll(place)
    await removeDirectory(place)
  } catch (e) {
    throw failed('remove', path, e)
  }
}
