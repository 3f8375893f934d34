// Opens files that a container may have replaced. A FIFO would keep a thread of the pool for ever, and a link would lead
// anywhere on the host: so no link is followed, nothing is waited for, and only a regular file is handed out.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

interface OpenRegularOptions {
  /** Default: for reading. */
  readonly flags?: number
  /** Of a file that is made. */
  readonly mode?: number
  /** So many directories above the file may be no links either. Default 0. */
  readonly plainParents?: number
}

const refused = (code: string, why: string): Error => Object.assign(new Error(why), { code })

/** The caller closes it. Errors are those of the system, EINVAL for what is no regular file. */
export async function openRegular(
  path: string,
  { flags = O_RDONLY, mode, plainParents = 0 }: OpenRegularOptions = {},
): Promise<FileHandle> {
  const openAt = (place: string): Promise<FileHandle> => open(place, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  const handle =
    plainParents === 0
      ? await openAt(path)
      : await inDirectory(parentOf(path), plainParents, (directory) => openAt(`${directory}/${nameOf(path)}`))
  try {
    if (!(await handle.stat()).isFile()) throw refused('EINVAL', 'it is not a regular file')
    return handle
  } catch (e) {
    await handle.close()
    throw e
  }
}

/**
 * Works in a directory whose last `plain` parts are no links. The work is given a path through the open descriptor: Node
 * has no openat, so replacing a directory by a link meanwhile has no effect.
 */
export async function inDirectory<T>(
  path: string,
  plain: number,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  if (plain <= 0) return within(await open(path, O_RDONLY | O_DIRECTORY), work)
  return inDirectory(parentOf(path), plain - 1, async (parent) =>
    within(await openPlain(parent, nameOf(path)), work),
  )
}

async function within<T>(handle: FileHandle, work: (directory: string) => Promise<T>): Promise<T> {
  try {
    return await work(`/proc/self/fd/${handle.fd}`)
  } finally {
    await handle.close()
  }
}

async function openPlain(parent: string, name: string): Promise<FileHandle> {
  if (name === '' || name === '.' || name === '..') throw refused('EINVAL', 'its path is not normalized')
  try {
    return await open(`${parent}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch (e) {
    // The kernel's word for a link here is ENOTDIR, which would pass for "not there".
    if (e instanceof Error && 'code' in e && e.code === 'ENOTDIR')
      throw refused('ELOOP', `${name} in its path is a link or not a directory`)
    throw e
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
