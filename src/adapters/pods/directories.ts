// Directories, files and links of pods. Modes are set after the fact: what a process may create is also a matter of
// its umask, and a pod's volume must not depend on that.
import { constants, type Stats } from 'node:fs'
import { chmod, chown, mkdir, readdir, readlink, realpath, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { DirectoryOptions, PathKind } from '../../ports/pod-host.js'
import { openRegular } from '../files/open-regular.js'
import { isMissing } from '../files/read.js'

const { O_APPEND, O_CREAT, O_TRUNC, O_WRONLY } = constants

const setGroupId = 0o2000

export const failed = (what: string, path: string, cause: unknown) =>
  keelsonError(
    'file.write-failed',
    `${what} ${path}: ${messageOf(cause)}; check permissions and free space`,
    { path },
    cause,
  )

export async function ensureDirectory(path: string, { mode, gid }: DirectoryOptions): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true })
    if (gid !== undefined) await chown(path, 0, gid)
    if (made !== undefined || gid !== undefined)
      await chmod(path, gid === undefined ? mode : mode | setGroupId)
  } catch (e) {
    throw failed('create directory', path, e)
  }
}

export async function ensureFile(path: string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    const file = await openRegular(path, { flags: O_WRONLY | O_CREAT | O_APPEND, mode })
    try {
      await file.chmod(mode)
    } finally {
      await file.close()
    }
  } catch (e) {
    throw failed('create file', path, e)
  }
}

export async function writeInPlace(path: string, text: string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    const file = await openRegular(path, { flags: O_WRONLY | O_CREAT | O_TRUNC, mode })
    try {
      await file.writeFile(text)
      await file.chmod(mode)
    } finally {
      await file.close()
    }
  } catch (e) {
    throw failed('write', path, e)
  }
}

const kinds: readonly (readonly [PathKind, (s: Stats) => boolean])[] = [
  ['file', (s) => s.isFile()],
  ['directory', (s) => s.isDirectory()],
  ['socket', (s) => s.isSocket()],
  ['char-device', (s) => s.isCharacterDevice()],
  ['block-device', (s) => s.isBlockDevice()],
]

export async function kindOf(path: string): Promise<PathKind | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found === undefined ? undefined : (kinds.find(([, is]) => is(found))?.[0] ?? 'other')
}

export async function list(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readdir(path)).sort()
  } catch (e) {
    if (isMissing(e)) return undefined
    throw keelsonError('input.unreadable', `list ${path}: check its permissions`, { path }, e)
  }
}

export async function link(target: string, path: string): Promise<void> {
  const temporary = `${path}.new`
  try {
    await mkdir(dirname(path), { recursive: true })
    await rm(temporary, { force: true })
    await symlink(target, temporary)
    await rename(temporary, path)
  } catch (e) {
    throw failed('link', path, e)
  }
}

/** Without links. What does not exist yet is below the first parent that does. */
export async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (e) {
    const parent = dirname(path)
    if (isMissing(e) && parent !== path) return join(await resolvePath(parent), basename(path))
    throw keelsonError('input.unreadable', `follow ${path}: check its links and permissions`, { path }, e)
  }
}

export const linkTarget = (path: string): Promise<string | undefined> => readlink(path).catch(() => undefined)

export async function remove(path: string): Promise<void> {
  try {
    await rm(path, { force: true })
  } catch (e) {
    throw failed('remove', path, e)
  }
}
