// Mounts below a directory, from the kernel's list, and umount for each.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail } from '../../core/errors.js'
import type { NodeMounts } from '../../ports/bootstrap.js'

const run = promisify(execFile)

/** The kernel writes blanks and backslashes in paths as octal. */
const parseOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

/** Mount points strictly below a directory, innermost first. */
export const parseMountsBelow = (mountinfo: string, directory: string): string[] =>
  mountinfo
    .split('\n')
    .map((line) => parseOctal(line.split(' ')[4] ?? ''))
    .filter((point) => point.startsWith(`${directory.replace(/\/$/, '')}/`))
    .toReversed()

export const createNodeMounts = (root: string): NodeMounts => ({
  async unmountBelow(path) {
    const outside = join(root, path)
    const points = parseMountsBelow(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''), outside)
    for (const point of points) {
      try {
        await run('umount', [point], { timeout: 30_000 })
      } catch (e) {
        const why = e instanceof Error ? e.message.trim() : String(e)
        throw fail(
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
