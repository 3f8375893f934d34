// One `keelson up` per user: the lock is in its directory, which is the user's own. What an `up` that has died left there is
// removed first.
import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Lock, takeLock as takeFileLock } from '../../adapters/lock/lock.js'
import { readPidStat } from '../../adapters/procfs/pid-stat.js'
import { keelsonError, messageOf } from '../../core/errors.js'
import { upDirectory } from './running.js'

interface UpLock {
  readonly dir: string
  release(): Promise<void>
}

const lockName = 'up.lock'
/** The lock of version 0.1: the process it names, if that is alive. */
const ownerFile = 'owner'

/** A pid alone may belong to another process by now. */
const startTime = async (pid: number): Promise<string | undefined> => (await readPidStat(pid))?.startTicks

async function livingOwner(dir: string): Promise<number | undefined> {
  const [pid = '', started] = (await readFile(join(dir, ownerFile), 'utf8').catch(() => '')).trim().split(' ')
  return pid !== '' && started !== undefined && (await startTime(Number(pid))) === started
    ? Number(pid)
    : undefined
}

export const busy = (pid: number): Error =>
  keelsonError(
    'up.busy',
    `keelson up is already running as process ${pid}; use it (keelson up status), or stop it with Ctrl-C or keelson up down`,
    { pid },
  )

const noSpace = (dir: string, e: unknown): Error =>
  keelsonError('up.no-space', `make ${dir}: ${messageOf(e)}`, { dir }, e)

async function makeOwnDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: 0o700 })
  } catch (e) {
    const found = await lstat(dir).catch(() => undefined)
    if (found === undefined) throw noSpace(dir, e)
    if (!found.isDirectory() || found.uid !== process.getuid?.())
      throw keelsonError(
        'up.busy',
        `use ${dir}: it is owned by user ${found.uid}; set TMPDIR to a directory that you own`,
      )
  }
}

/** One that ends at this moment takes its empty directory away before our lock is in it. */
async function lockDirectory(dir: string): Promise<Lock> {
  for (let attempt = 0; ; attempt++) {
    await makeOwnDirectory(dir)
    try {
      return await takeFileLock(join(dir, lockName), (pid) => busy(pid))
    } catch (e) {
      if (!(e instanceof Error && 'code' in e && e.code === 'ENOENT') || attempt >= 5) throw e
    }
  }
}

async function emptyDirectory(dir: string): Promise<void> {
  for (const name of await readdir(dir))
    if (!name.startsWith(`${lockName}.`))
      await rm(join(dir, name), { recursive: true, force: true, maxRetries: 5 })
}

export async function takeLock(
  cleanRemains: (dir: string) => Promise<void>,
  dir = upDirectory(),
): Promise<UpLock> {
  const lock = await lockDirectory(dir)
  try {
    const old = await livingOwner(dir)
    if (old !== undefined) throw busy(old)
    if ((await readdir(dir)).some((name) => !name.startsWith(`${lockName}.`))) {
      await cleanRemains(dir)
      await emptyDirectory(dir)
    }
    await writeFile(join(dir, ownerFile), `${process.pid} ${(await startTime(process.pid)) ?? ''}\n`)
  } catch (e) {
    await lock.release()
    throw e
  }
  return {
    dir,
    async release() {
      try {
        await emptyDirectory(dir)
      } finally {
        await lock.release()
      }
      // It may hold the lock of another process by now.
      await rmdir(dir).catch(() => undefined)
    },
  }
}
