// The socket file of the CRI server: made under another name and moved into place, so that it is never there with wider
// permissions and never missing on a restart. A socket that somebody answers on is not taken away from him.
import { chmodSync, type Stats } from 'node:fs'
import { lstat, mkdir, rename, unlink } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { keelsonError } from '../../../core/errors.js'
import { takeLock } from '../../lock/lock.js'

const refuse = (path: string, why: string, cause?: unknown): Error =>
  keelsonError('server.listen', `listen on ${path}: ${why}`, { path }, cause)

const statOf = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((e: NodeJS.ErrnoException) => {
    if (e.code === 'ENOENT') return undefined
    throw refuse(path, e.message, e)
  })

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    const end = (isAnswered: boolean): void => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.once('connect', () => end(true))
    // A full queue is somebody busy, not nobody.
    socket.once('error', (e: NodeJS.ErrnoException) => end(e.code === 'EAGAIN'))
  })

async function checkFree(path: string): Promise<void> {
  const found = await statOf(path)
  if (found === undefined) return
  if (!found.isSocket())
    throw refuse(path, 'there is a file that is no socket; remove it or choose another path')
  if (await answers(path)) throw refuse(path, 'another process answers there; end it or choose another path')
}

interface SocketFile {
  /** Takes the file away, unless another server has put its own there meanwhile. */
  remove(): Promise<void>
}

export async function listenOnSocket(server: Server, path: string): Promise<SocketFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  // Between the look and the move another server could do the same, and one of the two would listen where nobody calls.
  const lock = await takeLock(join(dirname(path), `.${basename(path)}.lock`), (pid) =>
    refuse(path, `another server is starting there (process ${pid}); end it or choose another path`),
  )
  try {
    return await takePath(server, path)
  } finally {
    await lock.release()
  }
}

async function takePath(server: Server, path: string): Promise<SocketFile> {
  await checkFree(path)
  const temporary = join(dirname(path), `.${basename(path).slice(0, 8)}.${process.pid}`)
  await unlink(temporary).catch(() => {})
  // Binding happens inside listen(), before it returns: nobody else's files are made with this mask.
  const mask = process.umask(0o177)
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', (e) => reject(refuse(path, e.message, e)))
    server.listen(temporary, resolve)
  })
  process.umask(mask)
  await listening
  chmodSync(temporary, 0o600)
  const { ino } = await lstat(temporary)
  await rename(temporary, path)
  return {
    async remove() {
      const now = await statOf(path)
      if (now?.ino === ino) await unlink(path).catch(() => {})
    },
  }
}
