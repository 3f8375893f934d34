// A piece of a file that may be growing, or may be replaced by another at any moment.
import { open } from 'node:fs/promises'
import { fail } from '../../core/errors.js'
import type { LogPiece } from '../../ports/pod-host.js'
import { isMissing } from '../files/read.js'

export async function readAt(path: string, offset: number, length: number): Promise<LogPiece | undefined> {
  const file = await open(path, 'r').catch((e: unknown) => {
    if (isMissing(e)) return undefined
    throw fail('input.unreadable', `read ${path}: check its permissions`, { path }, e)
  })
  if (file === undefined) return undefined
  try {
    const { size, ino } = await file.stat({ bigint: true })
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(buffer, 0, length, offset)
    return { bytes: buffer.subarray(0, bytesRead), size: Number(size), inode: ino }
  } finally {
    await file.close()
  }
}
