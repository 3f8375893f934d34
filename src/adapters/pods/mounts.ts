// Memory-backed volumes, and removal of directories that may hold mounts: nothing that is mounted below is ever deleted
// through the mount.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'
import { failed } from './directories.js'
import { removeDirectory } from './remove-directory.js'

const run = promisify(execFile)
const timeoutMs = 30_000

async function mountPoints(): Promise<readonly string[]> {
  return parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8')).map((m) => m.mountPoint)
}

export async function mountTmpfs(path: string, sizeBytes: bigint | undefined, mode: number): Promise<void> {
  if ((await mountPoints()).includes(path)) return
  const options = [`mode=${mode.toString(8)}`, ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`])]
  try {
    await run('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', path], { timeout: timeoutMs })
  } catch (e) {
    throw failed('mount a tmpfs at', path, e)
  }
}

export async function removeTree(path: string): Promise<void> {
  try {
    // Innermost first: later mounts lie upon earlier ones.
    const below = (await mountPoints()).filter((point) => point === path || point.startsWith(`${path}/`))
    for (const point of below.toReversed()) await run('umount', [point], { timeout: timeoutMs })
    await removeDirectory(path)
  } catch (e) {
    throw failed('remove', path, e)
  }
}
