// Reads what containers write: termination messages and logs, which may grow, and which a container may replace.
import type { FileHandle } from 'node:fs/promises'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { FilePiece, OpenLog } from '../../ports/pod-host.js'
import { openRegular } from '../files/open-regular.js'
import { isMissing } from '../files/read.js'

/** `POD/CONTAINER/0.log` below the log directory, `containers/NAME/0` below the directory of a pod. */
export const podParents = 2

const unreadable = (path: string, cause: unknown) =>
  keelsonError('input.unreadable', `read ${path}: ${messageOf(cause)}; was it replaced?`, { path }, cause)

async function openFile(path: string, plainParents = podParents): Promise<FileHandle | undefined> {
  try {
    return await openRegular(path, { plainParents })
  } catch (e) {
    if (isMissing(e)) return undefined
    throw unreadable(path, e)
  }
}

async function readPiece(handle: FileHandle, offset: number, length: number): Promise<FilePiece> {
  const { size } = await handle.stat()
  const buffer = Buffer.allocUnsafe(length)
  const { bytesRead } = await handle.read(buffer, 0, length, offset)
  return { bytes: buffer.subarray(0, bytesRead), size }
}

export async function openLog(path: string): Promise<OpenLog | undefined> {
  const handle = await openFile(path)
  if (handle === undefined) return undefined
  const { ino } = await handle.stat({ bigint: true })
  return {
    inode: ino,
    read: (offset, length) =>
      readPiece(handle, offset, length).catch((e: unknown) => {
        throw unreadable(path, e)
      }),
    close: () => handle.close(),
  }
}

export async function readAt(path: string, offset: number, length: number): Promise<FilePiece | undefined> {
  const file = await openLog(path)
  if (file === undefined) return undefined
  try {
    return await file.read(offset, length)
  } finally {
    await file.close()
  }
}

export async function readBelow(root: string, path: string, limit: number): Promise<Uint8Array | undefined> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const whole = [root, ...parts].join('/')
  // The directories below the root, and the root itself.
  const handle = await openFile(whole, parts.length)
  if (handle === undefined) return undefined
  try {
    const { bytes, size } = await readPiece(handle, 0, limit)
    if (size > limit) throw new Error(`it has ${size} bytes, more than ${limit}`)
    return bytes
  } catch (e) {
    throw unreadable(whole, e)
  } finally {
    await handle.close()
  }
}
