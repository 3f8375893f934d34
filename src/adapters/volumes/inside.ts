// Steps inside a volume that containers can change meanwhile: each directory is held open, names are looked up in the open
// one, and no link is followed that could lead out.
import { constants } from 'node:fs'
import { chmod, chown, type FileHandle, mkdir, open, realpath, stat } from 'node:fs/promises'
import { isMissing } from '../files/read.js'

const { O_DIRECTORY, O_NOFOLLOW } = constants
/** Neither reads nor waits: a FIFO or a device can be held without touching it. */
const O_PATH = 0o10_000_000
const setIdBits = 0o7777

/** The kernel takes it as the open directory itself, wherever its path leads by now. */
export const inDirectory = ({ fd }: FileHandle, name: string): string => `/proc/self/fd/${fd}/${name}`
const itself = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`

export const openDirectory = (path: string): Promise<FileHandle> =>
  open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)

/** The thing itself, also when it is a link. */
export const openEntry = (directory: FileHandle, name: string): Promise<FileHandle> =>
  open(inDirectory(directory, name), O_PATH | O_NOFOLLOW)

/** Of what is open, and of nothing that has taken its place: chmod by name would follow a link. */
export const changeMode = (handle: FileHandle, mode: number): Promise<void> => chmod(itself(handle), mode)

export const changeGroup = (handle: FileHandle, gid: number): Promise<void> => chown(itself(handle), -1, gid)

const segmentsOf = (relative: string): readonly string[] =>
  relative.split('/').filter((segment) => segment !== '' && segment !== '.')

/** Below `base`, which has no links; undefined: it leads out. */
function relativeTo(base: string, path: string): string | undefined {
  if (path === base) return ''
  const prefix = base === '/' ? '/' : `${base}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined
}

const outside = (): Error => new Error('it leads out of the volume')

/** Walks down without following any link. The caller closes what it gets. */
async function descend(base: string, segments: readonly string[]): Promise<FileHandle> {
  let current = await open(base, O_PATH | O_NOFOLLOW)
  try {
    for (const segment of segments) {
      if (segment === '..') throw outside()
      const next = await openEntry(current, segment)
      await current.close()
      current = next
      if ((await current.stat()).isSymbolicLink()) throw new Error('a link has taken its place')
    }
    return current
  } catch (e) {
    await current.close()
    throw e
  }
}

/** Links inside the volume are followed once, in advance; one that leads out is an error, one that comes later too. */
export async function openInside(volumePath: string, relative: string): Promise<FileHandle> {
  const base = await realpath(volumePath)
  const inside = relativeTo(base, await realpath(`${base}/${segmentsOf(relative).join('/')}`))
  if (inside === undefined) throw outside()
  return descend(base, segmentsOf(inside))
}

/** Undefined: nothing is there, or a link to nothing. */
async function resolved(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (e) {
    if (isMissing(e)) return undefined
    throw e
  }
}

/** Directories that are missing get this mode whatever the umask; those that are there keep theirs. */
export async function makeInside(volumePath: string, relative: string, mode?: number): Promise<void> {
  const base = await realpath(volumePath)
  const wanted = mode ?? (await stat(base)).mode & setIdBits
  const segments = segmentsOf(relative)
  if (segments.includes('..')) throw outside()
  let existing = base
  let made = 0
  for (; made < segments.length; made += 1) {
    const next = await resolved(`${existing}/${segments[made]}`)
    if (next === undefined) break
    existing = next
  }
  const start = relativeTo(base, existing)
  if (start === undefined) throw outside()
  let parent = await descend(base, segmentsOf(start))
  try {
    for (const segment of segments.slice(made)) {
      const isNew = await mkdir(inDirectory(parent, segment), wanted).then(
        () => true,
        (e: NodeJS.ErrnoException) => {
          if (e.code === 'EEXIST') return false
          throw e
        },
      )
      const child = await open(inDirectory(parent, segment), O_PATH | O_DIRECTORY | O_NOFOLLOW)
      await parent.close()
      parent = child
      if (isNew) await changeMode(parent, wanted)
    }
  } finally {
    await parent.close()
  }
}
