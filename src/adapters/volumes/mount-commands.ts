// mount and umount of util-linux, without a shell and with a deadline; which mounts there are says the kernel.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'
import { resolvePath } from '../pods/directories.js'

const run = promisify(execFile)
const timeoutMs = 30_000

export async function isMountPoint(path: string): Promise<boolean> {
  const place = join(await resolvePath(dirname(path)), basename(path))
  return parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8')).some((m) => m.mountPoint === place)
}

export async function runMount(args: readonly string[]): Promise<void> {
  await run('mount', [...args], { timeout: timeoutMs })
}

export async function unmountLazily(path: string): Promise<void> {
  await run('umount', ['--no-canonicalize', '--lazy', path], { timeout: timeoutMs })
}
