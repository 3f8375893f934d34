// mount and umount of util-linux, without a shell and with a deadline; which mounts there are says the kernel.
import { execFile } from 'node:child_process'
import { lstat, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { mountPointsAt } from '../../core/kernel-text/mountinfo.js'
import { resolvePath } from '../pods/directories.js'

const run = promisify(execFile)
const timeoutMs = 30_000

/** Asked for each volume at each sync: the kernel's list of all mounts is long and only read where the devices do not tell. */
export async function isMountPoint(path: string): Promise<boolean> {
  if (await hasOwnDevice(path)) return true
  const place = join(await resolvePath(dirname(path)), basename(path))
  return mountPointsAt(await readFile('/proc/self/mountinfo', 'utf8'), place).includes(place)
}

/** Another device than its parent's is a mount; the same one may still be a bind mount. */
async function hasOwnDevice(path: string): Promise<boolean> {
  const [own, parent] = await Promise.all([path, dirname(path)].map((p) => lstat(p).catch(() => undefined)))
  return own !== undefined && parent !== undefined && own.dev !== parent.dev
}

export async function runMount(args: readonly string[]): Promise<void> {
  await run('mount', [...args], { timeout: timeoutMs })
}

export async function unmountLazily(path: string): Promise<void> {
  await run('umount', ['--no-canonicalize', '--lazy', path], { timeout: timeoutMs })
}
