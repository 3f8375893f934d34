// fsGroup: everything in a volume belongs to the group, which may read or write it; what is made later in a directory belongs
// to it too (set-group-id). Links are not followed and other mounts are left alone.
import { type FileHandle, lchown, readdir } from 'node:fs/promises'
import type { GroupOptions } from '../../ports/pods/volume-host.js'
import { isMissing } from '../files/read.js'
import { changeGroup, changeMode, inDirectory, openDirectory, openEntry } from './inside.js'

const readWrite = 0o660
const readOnly = 0o440
const search = 0o110
const setGroupId = 0o2000
const permissions = 0o7777
/** Each level is an open file. */
const maxDepth = 500

export async function setVolumeGroup(directory: string, o: GroupOptions): Promise<void> {
  const top = await openDirectory(directory)
  try {
    const { dev, gid, mode } = await top.stat()
    const wanted = (o.readOnly ? readOnly : readWrite) | search | setGroupId
    if (o.onlyOnRootMismatch === true && gid === o.gid && (mode & wanted) === wanted) return
    await changeBelow(top, o, dev, 0)
    await changeGroup(top, o.gid)
    await changeMode(top, (mode & permissions) | wanted)
  } finally {
    await top.close()
  }
}

async function changeBelow(
  directory: FileHandle,
  o: GroupOptions,
  dev: number,
  depth: number,
): Promise<void> {
  if (depth > maxDepth) throw new Error(`it has more than ${maxDepth} levels of directories`)
  for (const name of await readdir(`/proc/self/fd/${directory.fd}`))
    await changeEntry(directory, name, o, dev, depth)
}

async function changeEntry(
  directory: FileHandle,
  name: string,
  o: GroupOptions,
  dev: number,
  depth: number,
): Promise<void> {
  let entry: FileHandle
  try {
    entry = await openEntry(directory, name)
  } catch (e) {
    if (isMissing(e)) return
    throw e
  }
  try {
    const found = await entry.stat()
    if (found.dev !== dev) return
    if (found.isSymbolicLink()) {
      await lchown(inDirectory(directory, name), -1, o.gid)
      return
    }
    if (found.isDirectory()) await changeBelow(entry, o, dev, depth + 1)
    await changeGroup(entry, o.gid)
    const mask = (o.readOnly ? readOnly : readWrite) | (found.isDirectory() ? search | setGroupId : 0)
    await changeMode(entry, (found.mode & permissions) | mask)
  } finally {
    await entry.close()
  }
}
