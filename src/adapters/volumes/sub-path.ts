// A part of a volume as a mount of its own, which the runtime is given in place of a path inside the volume: a container that
// puts a link there meanwhile changes nothing, because what is mounted was opened before.
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SubPathRequest } from '../../ports/pods/volume-host.js'
import { isMissing } from '../files/read.js'
import { makeInside, openInside } from './inside.js'
import { isMountPoint, runMount, unmountLazily } from './mount-commands.js'

export async function prepareSubPath({ volumePath, subPath, target }: SubPathRequest): Promise<void> {
  const source = await openOrMake(volumePath, subPath)
  try {
    if (await isMountPoint(target)) {
      if (await isSameFile(source, target)) return
      // The volume was written anew since the container ran last.
      await unmountLazily(target)
    }
    await makeTarget(target, (await source.stat()).isDirectory())
    // By way of our own descriptor: no name inside the volume is looked up again.
    await runMount(['--no-canonicalize', '--bind', `/proc/${process.pid}/fd/${source.fd}`, target])
    if (!(await isSameFile(source, target))) throw new Error('something else was mounted')
  } finally {
    await source.close()
  }
}

async function openOrMake(volumePath: string, subPath: string): Promise<FileHandle> {
  try {
    return await openInside(volumePath, subPath)
  } catch (e) {
    if (!isMissing(e)) throw e
    await makeInside(volumePath, subPath)
    return openInside(volumePath, subPath)
  }
}

async function isSameFile(handle: FileHandle, path: string): Promise<boolean> {
  const [a, b] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })])
  return a.ino === b.ino && a.dev === b.dev
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 })
  if (isDirectory) await mkdir(target, { recursive: true, mode: 0o750 })
  else await (await open(target, 'w', 0o640)).close()
}
