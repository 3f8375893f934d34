// One command at a time: a file with the holder's process id. A holder that is gone, as after a power cut, holds nothing.
import { link, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fail } from '../../core/errors.js'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    return e instanceof Error && 'code' in e && e.code === 'EPERM'
  }
}

const isCode = (e: unknown, code: string): boolean => e instanceof Error && 'code' in e && e.code === code

/**
 * Process ids come again, after a boot all of them: boot and start tell whether it is still the same process. Undefined
 * where the kernel does not say.
 */
async function identityOf(pid: number): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may hold anything; the start is the 20th field after it.
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}

/** `4711 0 BOOT:START` */
async function isHeldBy(holder: string): Promise<boolean> {
  const [pid = '', , identity] = holder.split(' ')
  if (!(Number(pid) > 0) || !isAlive(Number(pid))) return false
  const now = await identityOf(Number(pid))
  return identity === undefined || now === undefined || identity === now
}

/** Tokens of locks that this process holds: its own id alone would not tell two commands in one process apart. */
const held = new Set<string>()
let count = 0

/** One that was killed before it took its own name away again; whoever holds the lock clears up. */
async function clearRemains(file: string): Promise<void> {
  const prefix = `${basename(file)}.`
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    if (pid > 0 && !isAlive(pid)) await unlink(join(dirname(file), name)).catch(() => undefined)
  }
}

export async function takeLock(file: string, shown: string): Promise<() => Promise<void>> {
  const identity = await identityOf(process.pid)
  const token = [process.pid, count++, ...(identity === undefined ? [] : [identity])].join(' ')
  const mine = `${file}.${process.pid}.${count}`
  // Linked into place whole: nobody ever reads a lock without its owner's id.
  await writeFile(mine, token, { mode: 0o600 })
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        await link(mine, file)
        break
      } catch (e) {
        if (!isCode(e, 'EEXIST') || attempt >= 5) throw e
      }
      const holder = await readFile(file, 'utf8').catch(() => '')
      const pid = Number.parseInt(holder, 10)
      const living = pid === process.pid ? held.has(`${file} ${holder}`) : await isHeldBy(holder)
      if (living)
        throw fail('node.busy', `lock ${shown}: another keelson node command (process ${pid}) is at work`, {
          pid,
        })
      await unlink(file).catch((e: unknown) => {
        if (!isCode(e, 'ENOENT')) throw e
      })
    }
  } finally {
    await unlink(mine).catch(() => undefined)
  }
  await clearRemains(file)
  held.add(`${file} ${token}`)
  return async () => {
    held.delete(`${file} ${token}`)
    await unlink(file).catch((e: unknown) => {
      if (!isCode(e, 'ENOENT')) throw e
    })
  }
}
