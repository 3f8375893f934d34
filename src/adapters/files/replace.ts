// Replaces a file in one step: readers see the old content or the new one, also after a crash.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { ReplaceOptions } from '../../ports/files.js'
import { temporaryName } from './temporary.js'

const MODE = 0o644
const MAX_LINKS = 40

/** A link stays a link: its target is what gets replaced. */
async function finalTarget(path: string): Promise<string> {
  let target = resolve(path)
  for (let i = 0; i < MAX_LINKS; i++) {
    const stat = await lstat(target).catch(() => undefined)
    if (stat === undefined || !stat.isSymbolicLink()) return target
    target = resolve(dirname(target), await readlink(target))
  }
  throw new Error(`too many links from ${path}`)
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Owner first: changing it may clear permission bits. */
async function dress(handle: FileHandle, target: string, options: ReplaceOptions): Promise<void> {
  const old = await lstat(target).catch(() => undefined)
  const owner = options.owner ?? (old === undefined ? undefined : { uid: old.uid, gid: old.gid })
  if (owner !== undefined) {
    const now = await handle.stat()
    if (now.uid !== owner.uid || now.gid !== owner.gid) await handle.chown(owner.uid, owner.gid)
  }
  await handle.chmod(options.mode ?? (old === undefined ? MODE : old.mode & 0o7777))
}

async function replaceTarget(
  target: string,
  content: Uint8Array | string,
  options: ReplaceOptions,
): Promise<void> {
  const directory = dirname(target)
  const temporary = join(directory, temporaryName(basename(target), randomBytes(6).toString('hex')))
  const handle = await open(temporary, 'wx', 0o600)
  try {
    try {
      await handle.writeFile(content)
      await dress(handle, target, options)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(directory)
}

export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  options: ReplaceOptions = {},
): Promise<void> {
  try {
    await replaceTarget(await finalTarget(path), content, options)
  } catch (error) {
    const reason = messageOf(error)
    throw keelsonError(
      'file.write-failed',
      `replace ${path}: ${reason}; the old content is unchanged`,
      { path },
      error,
    )
  }
}
