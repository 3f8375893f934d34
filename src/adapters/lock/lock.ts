// One process at a time. Each contender listens on its own unix socket file beside the lock's path and then connects to all
// the others: if none listens, it holds the lock. No file is ever shared, so none is taken over, and one that refuses
// connections is dead for good. It dies with its process and means the same in every pid and network namespace.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { chmod, lstat, readdir, rename, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The mode of the socket file distinguishes the holder from contenders, which give way to each other within moments. */
const contending = 0o600
const holding = 0o700

/** For contenders of one moment on a busy machine; a holder is reported at once. */
const waitMs = 10_000

export interface Lock {
  release(): Promise<void>
}

interface Announced {
  readonly name: string
  readonly server: Server
}

interface Others {
  readonly holder: string | undefined
  /** The holder as well. */
  readonly live: readonly string[]
  readonly dead: readonly string[]
}

/** A directory by descriptor: resolved once, and its path may be longer than a socket's address. */
class LockDirectory {
  readonly #fd: number
  readonly #lock: string
  constructor(path: string) {
    this.#fd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
    this.#lock = basename(path)
  }

  at(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`
  }

  async announce(): Promise<Announced> {
    const id = `${process.pid}-${randomBytes(6).toString('hex')}`
    // Between bind and listen a socket refuses connections, as a dead one does: it gets its name when it listens.
    const [hidden, name] = [`${this.#lock}.new-${id}`, `${this.#lock}.held-${id}`]
    const server = createServer((socket) => socket.destroy())
    server.unref()
    try {
      server.listen(this.at(hidden))
      await once(server, 'listening')
      await chmod(this.at(hidden), contending)
      await rename(this.at(hidden), this.at(name))
    } catch (e) {
      await unlink(this.at(hidden)).catch(() => undefined)
      server.close()
      throw e
    }
    return { name, server }
  }

  async withdraw({ name, server }: Announced): Promise<void> {
    try {
      await unlink(this.at(name)).catch((e: NodeJS.ErrnoException) => {
        if (e.code !== 'ENOENT') throw e
      })
    } finally {
      server.close()
    }
  }

  async others(mine: string): Promise<Others> {
    let holder: string | undefined
    const live: string[] = []
    const dead: string[] = []
    for (const name of await readdir(this.at('.'))) {
      if (!name.startsWith(`${this.#lock}.new-`) && !name.startsWith(`${this.#lock}.held-`)) continue
      const found = name === mine ? undefined : await lstat(this.at(name)).catch(() => undefined)
      // In a world-writable directory, a file of another user does not hold the lock.
      if (found === undefined || (found.uid !== 0 && found.uid !== process.geteuid?.())) continue
      if (!(await isListening(this.at(name)))) dead.push(name)
      else if (name.startsWith(`${this.#lock}.held-`)) {
        live.push(name)
        if ((found.mode & 0o777) === holding) holder = name
      }
    }
    return { holder, live, dead }
  }

  pidOf(name: string): number {
    return Number.parseInt(name.slice(`${this.#lock}.held-`.length), 10)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** The kernel answers for a process that is stopped or busy, too. Only a refusal means that no process listens. */
const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (e: NodeJS.ErrnoException) => {
      resolve(e.code !== 'ECONNREFUSED' && e.code !== 'ENOENT')
    })
  })

/**
 * Takes the lock or throws what `busy` makes of the holder's process id, as the holder itself sees it. The directory must
 * exist; it should be one that only the lock's users can write.
 */
export async function takeLock(path: string, busy: (pid: number) => Error): Promise<Lock> {
  const directory = new LockDirectory(path)
  try {
    const mine = await contend(directory, busy)
    return {
      async release() {
        await directory.withdraw(mine)
        directory.close()
      },
    }
  } catch (e) {
    directory.close()
    throw e
  }
}

async function contend(directory: LockDirectory, busy: (pid: number) => Error): Promise<Announced> {
  const started = performance.now()
  let mine = await directory.announce()
  try {
    for (;;) {
      const { holder, live, dead } = await directory.others(mine.name)
      const [other] = live
      if (other === undefined) {
        await chmod(directory.at(mine.name), holding)
        for (const name of dead) await unlink(directory.at(name)).catch(() => undefined)
        return mine
      }
      if (holder !== undefined || performance.now() - started > waitMs)
        throw busy(directory.pidOf(holder ?? other))
      // Of several at one moment all but the first by name make way, so that one of them gets it.
      const isFirst = live.every((name) => mine.name < name)
      if (!isFirst) await directory.withdraw(mine)
      await sleep(5 + Math.random() * 25)
      if (!isFirst) mine = await directory.announce()
    }
  } catch (e) {
    await directory.withdraw(mine).catch(() => undefined)
    throw e
  }
}
