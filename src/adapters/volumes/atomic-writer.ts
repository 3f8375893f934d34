// Files of a volume that change all at once, in upstream's layout: a directory with the time in its name, `..data` that leads
// to it, and one link for each name at the top that leads through `..data`. Readers that hold `..data/` open see no mixture.
import { randomInt } from 'node:crypto'
import {
  chmod,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname } from 'node:path'
import type { GroupOptions, ProjectedFile } from '../../ports/pods/volume-host.js'
import { isMissing } from '../files/read.js'
import { removeDirectory } from '../pods/remove-directory.js'
import { inDirectory, openDirectory } from './inside.js'
import { setVolumeGroup } from './volume-group.js'

const dataLink = '..data'
const newDataLink = '..data_tmp'
const timeDirectory = /^\.\.\d{4}_\d{2}_\d{2}_\d{2}_\d{2}_\d{2}\.\d{1,10}$/

/** True: something was written. */
export async function writeFilesAtomically(
  directory: string,
  files: readonly ProjectedFile[],
  group: GroupOptions | undefined,
  now: Date,
): Promise<boolean> {
  const handle = await openDirectory(directory)
  const at = (name: string): string => inDirectory(handle, name)
  try {
    const old = await currentDirectory(at(dataLink))
    const before = old === undefined ? undefined : await pathsBelow(at(old))
    const wanted = withParents(files)
    const gone = [...(before ?? [])].filter((path) => !wanted.has(path))
    const isSame = old !== undefined && gone.length === 0 && (await hasContent(at(old), files))
    if (!isSame) {
      const fresh = await makeTimeDirectory(at, now)
      try {
        for (const file of files) await writeFile(at(fresh), file)
        if (group !== undefined) await setVolumeGroup(directory, group)
        // Left by a process that was ended in between.
        await unlink(at(newDataLink)).catch(ignoreMissing)
        await symlink(fresh, at(newDataLink))
        await rename(at(newDataLink), at(dataLink))
      } catch (e) {
        await removeDirectory(at(fresh)).catch(() => undefined)
        throw e
      }
    }
    await linkNames(at, files)
    for (const path of gone) if (!path.includes('/')) await unlink(at(path)).catch(ignoreMissing)
    if (!isSame) await removeOldDirectories(directory, at)
    return !isSame
  } finally {
    await handle.close()
  }
}

const ignoreMissing = (e: unknown): void => {
  if (!isMissing(e)) throw e
}

/** Undefined: nothing was written yet, or `..data` leads to something that is not ours. */
async function currentDirectory(link: string): Promise<string | undefined> {
  const target = await readlink(link).catch(() => undefined)
  return target !== undefined && timeDirectory.test(target) ? target : undefined
}

/** Files and directories, relative. Undefined: there is no such directory. */
async function pathsBelow(directory: string): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set(await readdir(directory, { recursive: true }))
  } catch (e) {
    if (isMissing(e)) return undefined
    throw e
  }
}

function withParents(files: readonly ProjectedFile[]): ReadonlySet<string> {
  const all = new Set<string>()
  for (const { path } of files)
    for (let part = path; part !== '.' && part !== ''; part = dirname(part)) all.add(part)
  return all
}

async function hasContent(directory: string, files: readonly ProjectedFile[]): Promise<boolean> {
  for (const { path, data } of files) {
    const found = await readFile(`${directory}/${path}`).catch(() => undefined)
    if (found === undefined || !found.equals(data)) return false
  }
  return true
}

async function makeTimeDirectory(at: (name: string) => string, now: Date): Promise<string> {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_')
  for (;;) {
    const name = `..${time}.${randomInt(2 ** 32)}`
    try {
      await mkdir(at(name), 0o700)
      await chmod(at(name), 0o755)
      return name
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e
    }
  }
}

async function writeFile(directory: string, { path, data, mode, owner }: ProjectedFile): Promise<void> {
  const full = `${directory}/${path}`
  await mkdir(dirname(full), { recursive: true })
  const file = await open(full, 'wx', 0o600)
  try {
    await file.writeFile(data)
    await file.chmod(mode)
  } finally {
    await file.close()
  }
  if (owner !== undefined) await lchown(full, owner, -1)
}

async function linkNames(at: (name: string) => string, files: readonly ProjectedFile[]): Promise<void> {
  for (const name of new Set(files.map(({ path }) => path.split('/')[0] ?? path)))
    await symlink(`${dataLink}/${name}`, at(name)).catch((e: NodeJS.ErrnoException) => {
      if (e.code !== 'EEXIST') throw e
    })
}

/** The one before, and those that a process left behind when it was ended in between. */
async function removeOldDirectories(directory: string, at: (name: string) => string): Promise<void> {
  const current = await currentDirectory(at(dataLink))
  for (const name of await readdir(directory))
    if (timeDirectory.test(name) && name !== current) await removeDirectory(at(name))
}
