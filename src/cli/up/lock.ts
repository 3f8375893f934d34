// One `keelson up` per user: its directory is the lock. A directory whose owner has died is taken over after its
// remains are removed.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail } from '../../core/errors.js'

export interface UpLock {
  readonly dir: string
  release(): Promise<void>
}

const ownerFile = 'owner'

/** A process number alone may be somebody else's by now. */
async function startTime(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19]
}

async function livingOwner(dir: string): Promise<number | undefined> {
  const [pid = '', started] = (await readFile(join(dir, ownerFile), 'utf8').catch(() => '')).trim().split(' ')
  return pid !== '' && started !== undefined && (await startTime(Number(pid))) === started
    ? Number(pid)
    : undefined
}

export async function takeLock(
  cleanRemains: (dir: string) => Promise<void>,
  dir = join(tmpdir(), `keelson-up-${process.getuid?.() ?? 0}`),
): Promise<UpLock> {
  try {
    await mkdir(dir, { mode: 0o700 })
  } catch (e) {
    const found = await stat(dir).catch(() => undefined)
    if (found === undefined)
      throw fail('up.no-space', `make ${dir}: ${e instanceof Error ? e.message : String(e)}`, { dir }, e)
    if (found.uid !== process.getuid?.())
      throw fail(
        'up.busy',
        `use ${dir}: it belongs to user ${found.uid}; set TMPDIR to a directory of your own`,
      )
    const pid = await livingOwner(dir)
    if (pid !== undefined)
      throw fail(
        'up.busy',
        `keelson up runs already, as process ${pid}; use it, or end it with Ctrl-C (kill -INT ${pid})`,
        { pid, dir },
      )
    await cleanRemains(dir)
    await rm(dir, { recursive: true, force: true })
    await mkdir(dir, { mode: 0o700 })
  }
  await writeFile(join(dir, ownerFile), `${process.pid} ${(await startTime(process.pid)) ?? ''}\n`)
  return { dir, release: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }) }
}
