// The socket file of the CRI server: created under another name and renamed, so that it never has wider permissions and is
// never missing on a restart. A socket with a live listener is never replaced.
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

const hasListener = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    const end = (isListening: boolean): void => {
      socket.destroy()
      resolve(isListening)
    }
    socket.once('connect', () => end(true))
    // A full queue means a busy listener.
    socket.once('error', (e: NodeJS.ErrnoException) => end(e.code === 'EAGAIN'))
  })

async function checkFree(path: string): Promise<void> {
  const found = await statOf(path)
  if (found === undefined) return
  if (!found.isSocket())
    throw refuse(path, 'the file there is not a socket; remove it or choose another path')
  if (await hasListener(path))
    throw refuse(path, 'another process is listening there; stop it or choose another path')
}

interface SocketFile {
  /** Removes the file, unless another server has put its own there meanwhile. */
  remove(): Promise<void>
}

export async function listenOnSocket(server: Server, path: string): Promise<SocketFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  // Between check and rename another server could do the same, and one of the two would listen where no client connects.
  const lock = await takeLock(join(dirname(path), `.${basename(path)}.lock`), (pid) =>
    refuse(path, `another server is starting there (process ${pid}); stop it or choose another path`),
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
  // Binding happens inside listen(), before it returns: no other file is created with this mask.
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
