// The logs of a start that failed, kept where its own removal does not reach.
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A node that ran for days may have written a lot; the end shows why it failed. */
const maxBytes = 4 * 1024 * 1024

export const keptLogs = (cacheDir: string): string => join(cacheDir, 'last-up')

async function readEnd(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, maxBytes))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Replaces those of the failure before. Undefined: there were none. */
export async function keepLogs(from: string, cacheDir: string): Promise<string | undefined> {
  const names = (await readdir(from).catch(() => [])).filter((name) => name.endsWith('.log'))
  if (names.length === 0) return undefined
  const to = keptLogs(cacheDir)
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of names) await writeFile(join(to, name), await readEnd(join(from, name)), { mode: 0o600 })
  return to
}
