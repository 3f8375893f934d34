// Removal of directories that may hold mounts: nothing that is mounted below is ever deleted through the mount.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'
import { failed, resolvePath } from './directories.js'
import { removeDirectory } from './remove-directory.js'

const run = promisify(execFile)
const timeoutMs = 30_000

/** As the kernel names it: the way to it has no links. The name itself is not followed. */
const placeOf = async (path: string): Promise<string> =>
  join(await resolvePath(dirname(path)), basename(path))

/** Outer ones before those that lie upon them. */
async function mountsBelow(place: string): Promise<readonly string[]> {
  const points = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8')).map((m) => m.mountPoint)
  return points.filter((point) => point === place || point.startsWith(`${place}/`))
}

export async function removeTree(path: string): Promise<void> {
  try {
    const place = await placeOf(path)
    for (const point of (await mountsBelow(place)).toReversed())
      await run('umount', [point], { timeout: timeoutMs })
    // Asked again: what is still mounted, or mounted again, holds data.
    const left = await mountsBelow(place)
    if (left.length > 0) throw new Error(`${left.join(', ')} is still mounted`)
    await removeDirectory(place)
  } catch (e) {
    throw failed('remove', path, e)
  }
}
