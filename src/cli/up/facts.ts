// Looks at this machine for `keelson up`.
import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { keelsonError, messageOf } from '../../core/errors.js'
import { parseMemInfo } from '../../core/kernel-text/meminfo.js'
import { cacheDirectory } from '../../lab/cache.js'
import { findCommand, missingPackages } from '../../lab/packages.js'
import type { MachineFacts } from '../../up/machine.js'
import type { Io } from '../io.js'

const cgroupMount = '/sys/fs/cgroup'

async function freeBelow(path: string): Promise<bigint> {
  let existing = path
  while (!existsSync(existing)) existing = dirname(existing)
  const { bavail, bsize } = await statfs(existing, { bigint: true })
  return bavail * bsize
}

async function hasPods(): Promise<boolean> {
  for (const name of ['kubepods', 'kubepods.slice']) {
    const events = await readFile(`${cgroupMount}/${name}/cgroup.events`, 'utf8').catch(() => '')
    if (/^populated 1$/m.test(events)) return true
  }
  return false
}

export async function readMachine(io: Io, withRuntime: boolean): Promise<MachineFacts> {
  const paths = [tmpdir(), cacheDirectory(io.env)]
  const memory = parseMemInfo(await readFile('/proc/meminfo', 'utf8').catch(() => ''))
  return {
    platform: process.platform,
    arch: process.arch,
    root: process.getuid?.() === 0,
    cgroupV2: existsSync(`${cgroupMount}/cgroup.controllers`),
    podsHere: await hasPods(),
    hasApt: findCommand('apt-get') !== undefined,
    missing: {
      // A runtime that is there has the images of its pods already, or pulls them.
      host: withRuntime ? [] : missingPackages(['containerd', 'images']),
      lab: missingPackages(['uml', 'containerd', 'images', 'disk']),
    },
    space: await Promise.all(paths.map(async (path) => ({ path, freeBytes: await freeBelow(path) }))),
    availableMemoryBytes: memory.get('MemAvailable') ?? 2n ** 62n,
  }
}

/** Known before anything is started; the listener itself would say it late and in another process. */
export async function requirePort(port: number): Promise<void> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve)
    })
  } catch (e) {
    throw keelsonError(
      'up.port',
      `use port ${port} of 127.0.0.1: ${messageOf(e)}; stop the program that uses it, or choose another with --port`,
      { port },
      e,
    )
  } finally {
    server.close()
  }
}

const tmpfsMagic = 0x01021994n

/** Files in memory are no page cache that the kernel could drop, so that nothing could be compared. */
export async function requireDisk(path: string): Promise<void> {
  const { type } = await statfs(path, { bigint: true })
  if (type === tmpfsMagic)
    throw keelsonError(
      'up.unsupported',
      `compare page caches in ${path}: it is in memory (tmpfs); set TMPDIR to a directory on a disk, or use --on lab`,
      { path },
    )
}
