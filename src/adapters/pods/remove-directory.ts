// Removes a directory with all that is in it while others may still change it: a container with a hostPath to a part of it can
// put a link in the place of a directory at any moment. Each step holds the directory it works in open, so no name is ever
// followed out of the tree, and a directory of another mount is not emptied.
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, readFile, rename, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isMissing } from '../files/read.js'

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
/** Each level is an open file. What lies deeper is moved up first. */
const maxDepth = 64
/** Each gives at least one level; a process that keeps adding files is not waited for. */
const maxRounds = 10_000

const codeOf = (e: unknown): unknown => (e instanceof Error && 'code' in e ? e.code : undefined)

/** The kernel takes it as the open directory itself, wherever its path leads by now. Names are bytes, not text. */
const inside = ({ fd }: FileHandle, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name])

/** A bind mount has the device of its source; the mount id distinguishes the two. */
async function mountOf({ fd }: FileHandle): Promise<string | undefined> {
  return /^mnt_id:\s*(\d+)/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
}

interface Tree {
  readonly top: FileHandle
  readonly mount: string | undefined
  moved: number
}

/** Nothing there is not an error. */
export async function removeDirectory(path: string): Promise<void> {
  const parent = await open(dirname(path), O_RDONLY | O_DIRECTORY).catch((e: unknown) => {
    if (isMissing(e)) return undefined
    throw e
  })
  if (parent === undefined) return
  try {
    const name = Buffer.from(basename(path))
    const mount = await mountOf(parent)
    await withDirectory(parent, name, async (top) => {
      await empty(top, { top, mount, moved: 0 }, 0)
    })
  } finally {
    await parent.close()
  }
}

/** Empties and removes it; a link or a file of the name is removed as such. */
async function withDirectory(
  parent: FileHandle,
  name: Buffer,
  work: (directory: FileHandle) => Promise<void>,
): Promise<void> {
  const path = inside(parent, name)
  let directory: FileHandle
  try {
    directory = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch (e) {
    if (codeOf(e) === 'ENOENT') return
    if (codeOf(e) !== 'ENOTDIR' && codeOf(e) !== 'ELOOP') throw e
    return removeFile(path)
  }
  try {
    await work(directory)
  } finally {
    await directory.close()
  }
  await rmdir(path).catch(async (e: unknown) => {
    if (codeOf(e) === 'ENOTDIR') await removeFile(path)
    else if (codeOf(e) !== 'ENOENT') throw e
  })
}

async function empty(directory: FileHandle, tree: Tree, depth: number): Promise<void> {
  if ((await mountOf(directory)) !== tree.mount) throw new Error('something is mounted in it')
  for (let round = 0; round < maxRounds; round += 1) {
    const entries = await readdir(`/proc/self/fd/${directory.fd}`, {
      encoding: 'buffer',
      withFileTypes: true,
    })
    if (entries.length === 0) return
    for (const entry of entries) {
      // Its type says Buffer for no encoding.
      const name = entry.name as unknown as Buffer
      if (!entry.isDirectory()) await removeFile(inside(directory, name))
      else if (depth < maxDepth)
        await withDirectory(directory, name, (child) => empty(child, tree, depth + 1))
      else await moveUp(directory, name, tree)
    }
  }
}

async function moveUp(directory: FileHandle, name: Buffer, tree: Tree): Promise<void> {
  tree.moved += 1
  const free = inside(tree.top, Buffer.from(`.keelson-removed-${tree.moved}`))
  // Taken or gone: the next round looks again, with another name.
  await rename(inside(directory, name), free).catch((e: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'ENOENT'].includes(String(codeOf(e)))) throw e
  })
}

/** A directory in its place by now is left to the next round. */
async function removeFile(path: Buffer): Promise<void> {
  await unlink(path).catch((e: unknown) => {
    if (codeOf(e) !== 'ENOENT' && codeOf(e) !== 'EISDIR') throw e
  })
}
