// The locks of version 0.1, held beside our own for as long as both versions may meet on one node: a file with the holder's
// process id, and a name among the abstract unix sockets. To be removed with the release after the next.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { link, readdir, readFile, readlink, stat, unlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { readPidStat } from '../procfs/pid-stat.js'
import type { Lock } from './lock.js'

const isCode = (e: unknown, code: string): boolean => e instanceof Error && 'code' in e && e.code === code

const ignoreMissing = (e: unknown): void => {
  if (!isCode(e, 'ENOENT')) throw e
}

/** Process ids come again, after a boot all of them: boot and start tell whether it is still the same process. */
async function identityOf(pid: number): Promise<string | undefined> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => undefined)
  const stat = await readPidStat(pid)
  return boot === undefined || stat === undefined ? undefined : `${boot.trim()}:${stat.startTicks}`
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    return isCode(e, 'EPERM')
  }
}

/** `4711 0 BOOT:START` */
async function livingPid(holder: string): Promise<number | undefined> {
  const [text = '', , identity] = holder.split(' ')
  const pid = Number(text)
  // Our own id: left by a process that had it before, because our own lock is held already.
  if (!(pid > 0) || pid === process.pid || !isAlive(pid)) return undefined
  const now = await identityOf(pid)
  return identity === undefined || now === undefined || identity === now ? pid : undefined
}

/** Only while our own lock is held: then only a process of version 0.1 can hold it. */
export async function takeOldFile(file: string, busy: (pid: number) => Error): Promise<Lock> {
  const identity = await identityOf(process.pid)
  const mine = `${file}.${process.pid}.0`
  try {
    // Linked into place atomically: a lock always has the id of its owner.
    await writeFile(mine, [process.pid, 0, ...(identity === undefined ? [] : [identity])].join(' '), {
      mode: 0o600,
    })
    for (let attempt = 0; ; attempt++) {
      try {
        await link(mine, file)
        break
      } catch (e) {
        if (!isCode(e, 'EEXIST') || attempt >= 5) throw e
      }
      const pid = await livingPid(await readFile(file, 'utf8').catch(() => ''))
      if (pid !== undefined) throw busy(pid)
      await unlink(file).catch(ignoreMissing)
    }
  } finally {
    await unlink(mine).catch(() => undefined)
  }
  await clearRemains(file)
  return { release: () => unlink(file).catch(ignoreMissing) }
}

/** `node.lock.4711.1` of a process that was killed before it took that name away again. */
async function clearRemains(file: string): Promise<void> {
  const prefix = `${basename(file)}.`
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    const [pid, end] = name.startsWith(prefix) ? name.slice(prefix.length).split('.') : []
    if (Number(pid) > 0 && end !== undefined && !isAlive(Number(pid)))
      await unlink(join(dirname(file), name)).catch(() => undefined)
  }
}

/**
 * Any local user can take an abstract name, so one that is taken counts only when its holder can be seen to be ours.
 * Undefined: it is not, and nothing is held.
 */
export async function takeOldName(name: string, busy: (pid: number) => Error): Promise<Lock | undefined> {
  const path = `keelson-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.destroy())
  server.unref()
  try {
    server.listen({ path: `\0${path}` })
    await once(server, 'listening')
  } catch (e) {
    if (!isCode(e, 'EADDRINUSE')) throw e
    const pid = await trustedHolder(`@${path}`)
    if (pid !== undefined) throw busy(pid)
    return undefined
  }
  return { release: async () => void server.close() }
}

/** Listening sockets of that name. A name may hold line breaks, so that a stranger can write lines here. */
export const parseListening = (procNetUnix: string, name: string): string[] =>
  procNetUnix.split('\n').flatMap((line) => {
    const [, , , flags, , , inode = '', path] = line.trim().split(/\s+/)
    // The kernel shows the zero bytes after a name as `@`.
    return flags === '00010000' && /^\d+$/.test(inode) && path?.replace(/@+$/, '') === name ? [inode] : []
  })

async function trustedHolder(name: string): Promise<number | undefined> {
  const inodes = parseListening(await readFile('/proc/net/unix', 'utf8').catch(() => ''), name)
  // One name has one listener: of two lines one is made up, perhaps with the number of a socket of root.
  const [inode] = inodes
  if (inode === undefined || inodes.length > 1) return undefined
  const holder = await holderOf(inode)
  return holder !== undefined && (holder.uid === 0 || holder.uid === process.geteuid?.())
    ? holder.pid
    : undefined
}

async function holderOf(inode: string): Promise<{ pid: number; uid: number } | undefined> {
  for (const pid of (await readdir('/proc')).filter((n) => /^\d+$/.test(n)))
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')
      if (target !== `socket:[${inode}]`) continue
      const found = await stat(`/proc/${pid}`).catch(() => undefined)
      return found === undefined ? undefined : { pid: Number(pid), uid: found.uid }
    }
  return undefined
}
