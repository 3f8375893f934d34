// Reads a file up to a bound. A file that grows while it is read, or that lies about its size (/proc), is bounded too.
import { open } from 'node:fs/promises'
import { keelsonError, messageOf } from '../../core/errors.js'

const CHUNK = 64 * 1024

const unreadable = (path: string, cause: unknown) => {
  const isDirectory = cause instanceof Error && 'code' in cause && cause.code === 'EISDIR'
  if (isDirectory)
    return keelsonError(
      'input.unreadable',
      `read ${path}: it is a directory; name a file in it`,
      { path },
      cause,
    )
  const reason = messageOf(cause)
  return keelsonError(
    'input.unreadable',
    `read ${path}: ${reason}; check the path and its permissions`,
    { path },
    cause,
  )
}

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')

export async function readBounded(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  })
  if (handle === undefined) return undefined
  try {
    const chunks: Buffer[] = []
    let length = 0
    for (;;) {
      // One byte more than allowed distinguishes a full file from one that is too large.
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, maxBytes + 1 - length))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null).catch((error: unknown) => {
        throw unreadable(path, error)
      })
      if (bytesRead === 0) return Buffer.concat(chunks)
      chunks.push(buffer.subarray(0, bytesRead))
      length += bytesRead
      if (length > maxBytes)
        throw keelsonError(
          'input.too-large',
          `read ${path}: more than ${maxBytes} bytes; is it the right file?`,
          {
            path,
            maxBytes,
          },
        )
    }
  } finally {
    await handle.close()
  }
}
