// Mounts below a directory, from the kernel's list, and umount for each.
import { execFile } from 'node:child_process'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keelsonError, messageOf } from '../../core/errors.js'
import { mountPointsAt } from '../../core/kernel-text/mountinfo.js'
import type { NodeMounts } from '../../ports/bootstrap.js'

const run = promisify(execFile)

/** Mount points strictly below a directory, innermost first. */
export function parseMountsBelow(mountinfo: string, directory: string): string[] {
  const place = directory.replace(/\/$/, '')
  return mountPointsAt(mountinfo, place)
    .filter((point) => point !== place)
    .toReversed()
}

async function readMounts(mountinfo: string, path: string): Promise<string> {
  try {
    return await readFile(mountinfo, 'utf8')
  } catch (e) {
    const why = messageOf(e)
    throw keelsonError(
      'node.refused',
      `list mounts below ${path}: ${why}; nothing was deleted, to protect the contents of mounts`,
      { path },
      e,
    )
  }
}

/** The kernel names mount points without links. */
const withoutLinks = (path: string): Promise<string> => realpath(path).catch(() => path)

export const createNodeMounts = (root: string, mountinfo = '/proc/self/mountinfo'): NodeMounts => ({
  async unmountBelow(path) {
    const outside = await withoutLinks(join(root, path))
    const points = parseMountsBelow(await readMounts(mountinfo, path), outside)
    for (const point of points) {
      try {
        await run('umount', [point], { timeout: 30_000 })
      } catch (e) {
        const why = e instanceof Error ? e.message.trim() : String(e)
        throw keelsonError(
          'node.refused',
          `unmount ${point}: ${why}; nothing below ${path} was deleted`,
          { point },
          e,
        )
      }
    }
    return points
  },
})
