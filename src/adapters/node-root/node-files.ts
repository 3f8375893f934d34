// The files of one node, on this machine or below another root. Every write is on disk when it returns.
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isKeelsonError, keelsonError, messageOf } from '../../core/errors.js'
import type { NodeFiles } from '../../ports/bootstrap.js'
import { openRegular } from '../files/open-regular.js'
import { takeLock } from '../lock/lock.js'
import { takeOldFile } from '../lock/version-0-1.js'
import { resolveInside } from './rooted-path.js'

const largestFile = 4 * 1024 * 1024

const codeOf = (e: unknown): string => (e instanceof Error && 'code' in e ? String(e.code) : '')

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; run the command as root',
  EPERM: 'not permitted; run the command as root',
  EROFS: 'the file system is read-only; remount it read-write',
  ENOSPC: 'no space left on the device; free space and retry',
  EDQUOT: 'disk quota exceeded; free space and retry',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory, not a file',
  EXDEV: 'it is a mount point; a file cannot replace it',
  EBUSY: 'it is in use, perhaps as a mount point',
}

const because = (e: unknown): string => remedies[codeOf(e)] ?? messageOf(e)

async function wrap<T>(
  code: 'file.write-failed' | 'input.unreadable',
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (e) {
    if (isKeelsonError(e)) throw e
    throw keelsonError(code, `${doing}: ${because(e)}`, { errno: codeOf(e) }, e)
  }
}

/** A name is on disk only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readBounded(path: string): Promise<Uint8Array> {
  const handle = await openRegular(path)
  try {
    if ((await handle.stat()).size > largestFile)
      throw keelsonError('input.too-large', `read ${path}: larger than ${largestFile} bytes`, { path })
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export function createNodeFiles(root: string): NodeFiles {
  const at = (path: string) => resolveInside(root, path)
  /** The name itself: only the way to it is followed. */
  const ownPlace = async (path: string) => `${(await at(dirname(path))).outside}/${basename(path)}`
  const writing = <T>(doing: string, work: () => Promise<T>) => wrap('file.write-failed', doing, work)
  const reading = <T>(doing: string, work: () => Promise<T>) => wrap('input.unreadable', doing, work)
  return {
    read: (path) =>
      reading(`read ${path}`, async () => {
        const { outside, exists } = await at(path)
        return exists ? readBounded(outside) : undefined
      }),
    stat: (path) =>
      reading(`look at ${path}`, async () => {
        const { outside, exists } = await at(path)
        if (!exists) return undefined
        const s = await lstat(outside)
        return {
          kind: s.isFile() ? 'file' : s.isDirectory() ? 'directory' : 'other',
          mode: s.mode & 0o7777,
          owner: { uid: s.uid, gid: s.gid },
        }
      }),
    resolve: (path) =>
      reading(`follow ${path}`, async () => {
        const { inside, exists } = await at(path)
        return exists ? inside : undefined
      }),
    makeDirectory: (path, mode) =>
      writing(`create directory ${path}`, () => makeDirectories(root, path, mode)),
    write: (path, content, mode, owner) =>
      writing(`write ${path}`, async () => {
        const { outside } = await at(path)
        const handle = await open(outside, 'w', mode)
        try {
          await handle.writeFile(content)
          const now = await handle.stat()
          if (owner !== undefined && (owner.uid !== now.uid || owner.gid !== now.gid))
            await handle.chown(owner.uid, owner.gid)
          // The umask took its part of the mode away.
          await handle.chmod(mode)
          await handle.sync()
        } finally {
          await handle.close()
        }
      }),
    rename: (from, to) =>
      writing(`replace ${to}`, async () => {
        const target = await ownPlace(to)
        await rename(await ownPlace(from), target)
        await syncDirectory(dirname(target))
      }),
    readLink: (path) =>
      reading(`read link ${path}`, async () => {
        const place = await ownPlace(path)
        const found = await lstat(place).catch(() => undefined)
        if (found === undefined) return undefined
        if (!found.isSymbolicLink())
          throw keelsonError('node.refused', `read link ${path}: not a link; check it, then remove it`, {
            path,
          })
        return readlink(place)
      }),
    writeLink: (path, target) =>
      writing(`link ${path}`, async () => {
        const place = await ownPlace(path)
        await rm(place, { force: true })
        await symlink(target, place)
        await syncDirectory(dirname(place))
      }),
    remove: (path) =>
      writing(`remove ${path}`, async () => {
        const parent = await at(dirname(path))
        if (!parent.exists) return
        await rm(await ownPlace(path), { force: true })
        await syncDirectory(parent.outside)
      }),
    removeEmptyDirectory: (path) =>
      writing(`remove directory ${path}`, async () => {
        const { outside, exists } = await at(path)
        if (!exists) return
        await rmdir(outside).catch((e: unknown) => {
          if (codeOf(e) !== 'ENOTEMPTY' && codeOf(e) !== 'EEXIST') throw e
        })
      }),
    list: (path) =>
      reading(`list ${path}`, async () => {
        const { outside, exists } = await at(path)
        return exists ? (await readdir(outside)).sort() : undefined
      }),
    removeContents: (path) =>
      writing(`delete the contents of ${path}`, async () => {
        const { outside, exists } = await at(path)
        if (!exists) return
        // rm takes links away without following them.
        for (const name of (await readdir(outside)).sort())
          await rm(`${outside}/${name}`, { recursive: true, force: true })
        await syncDirectory(outside)
      }),
    lock: (path) => writing(`lock ${path}`, async () => lockNode((await at(path)).outside, path)),
  }
}

async function lockNode(file: string, shown: string): Promise<() => Promise<void>> {
  const busy = (pid: number): Error =>
    keelsonError('node.busy', `lock ${shown}: another keelson node command is running (process ${pid})`, {
      pid,
    })
  const lock = await takeLock(file, busy)
  try {
    const old = await takeOldFile(file, busy)
    return async () => {
      await old.release()
      await lock.release()
    }
  } catch (e) {
    await lock.release()
    throw e
  }
}

async function makeDirectories(root: string, path: string, mode: number): Promise<string[]> {
  const parts = path.split('/').filter((p) => p !== '')
  const created: string[] = []
  for (let i = 1; i <= parts.length; i++) {
    const here = `/${parts.slice(0, i).join('/')}`
    const { outside, exists } = await resolveInside(root, here)
    if (exists) {
      if (!(await lstat(outside)).isDirectory()) throw Object.assign(new Error(here), { code: 'ENOTDIR' })
      continue
    }
    await mkdir(outside, { mode })
    await chmod(outside, mode)
    await syncDirectory(dirname(outside))
    created.push(here)
  }
  return created
}
