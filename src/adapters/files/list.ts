// Lists the regular files of a directory in lexical order, with or without the directories below it.
import type { BigIntStats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { FileEntry, ListOptions } from '../../ports/files.js'
import { isMissing } from './read.js'
import { isTemporaryName } from './temporary.js'

const MAX_ENTRIES = 10_000
const MAX_DEPTH = 16

/** By code unit, as Go sorts names: not by the locale of the machine. */
const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

async function entry(path: string, name: string): Promise<FileEntry | 'directory' | undefined> {
  let found: BigIntStats
  try {
    found = await stat(path, { bigint: true })
  } catch (e) {
    // A file removed between listing and looking, or a dangling link, is not there. Any other error says nothing of that.
    if (isMissing(e)) return undefined
    const unreadable = messageOf(e)
    return { path, name, size: 0n, mtimeNanos: 0n, inode: 0n, unreadable }
  }
  if (found.isDirectory()) return 'directory'
  if (!found.isFile()) return undefined
  return { path, name, size: found.size, mtimeNanos: found.mtimeNs, inode: found.ino }
}

export async function listFiles(
  directory: string,
  { recursive = false, suffix = '', maxEntries = MAX_ENTRIES }: ListOptions = {},
): Promise<readonly FileEntry[] | undefined> {
  const files: FileEntry[] = []
  const visit = async (prefix: string, depth: number): Promise<boolean> => {
    const names = await readdir(join(directory, prefix)).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw keelsonError(
        'input.unreadable',
        `list ${join(directory, prefix)}: check its permissions`,
        { directory },
        error,
      )
    })
    for (const name of names?.filter((one) => !isTemporaryName(one)).sort(byName) ?? []) {
      const relative = join(prefix, name)
      const found = await entry(join(directory, relative), relative)
      if (found === 'directory' && recursive && depth < MAX_DEPTH) await visit(relative, depth + 1)
      else if (typeof found === 'object' && name.endsWith(suffix)) files.push(found)
      if (files.length > maxEntries)
        throw keelsonError(
          'input.too-large',
          `list ${directory}: more than ${maxEntries} files; is it the right directory?`,
          {
            directory,
            maxEntries,
          },
        )
    }
    return names !== undefined
  }
  return (await visit('', 0)) ? files : undefined
}
