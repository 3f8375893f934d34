// The directory of a container's log files: what log rotation lists, moves, compresses and removes there. A container that
// mounts the logs of the host can put links in place of directories and files, so none is followed.
import { constants } from 'node:fs'
import { lstat, opendir, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { compressedName, unfinishedName } from '../../core/cri/log-rotation.js'
import { isKeelsonError, keelsonError, messageOf } from '../../core/errors.js'
import type { LogFileEntry } from '../../ports/pod-host.js'
import { inDirectory, openRegular } from '../files/open-regular.js'
import { isMissing } from '../files/read.js'
import { failed } from './directories.js'
import { podParents } from './read-at.js'

/** Far above any containerLogMaxFiles; a full directory must not fill our memory. */
const maxEntries = 10_000

export async function logSize(path: string): Promise<number | undefined> {
  const info = await lstat(path).catch(() => undefined)
  return info?.isFile() === true ? info.size : undefined
}

export async function listLogs(directory: string): Promise<readonly LogFileEntry[] | undefined> {
  try {
    return await inDirectory(directory, podParents, listIn)
  } catch (e) {
    if (isMissing(e)) return undefined
    if (isKeelsonError(e)) throw e
    const reason = messageOf(e)
    throw keelsonError(
      'input.unreadable',
      `list ${directory}: ${reason}; was it replaced?`,
      { path: directory },
      e,
    )
  }
}

async function listIn(place: string): Promise<readonly LogFileEntry[]> {
  const found: LogFileEntry[] = []
  let seen = 0
  for await (const { name } of await opendir(place)) {
    if (++seen > maxEntries)
      throw keelsonError('input.too-large', `list log files: more than ${maxEntries} in one directory`)
    const info = await lstat(`${place}/${name}`).catch(() => undefined)
    if (info !== undefined) found.push({ name, size: info.size, isFile: info.isFile() })
  }
  return found
}

const changing = (what: string, directory: string, work: (place: string) => Promise<void>): Promise<void> =>
  inDirectory(directory, podParents, work).catch((e: unknown) => {
    throw failed(what, directory, e)
  })

export const moveLog = (directory: string, from: string, to: string): Promise<void> =>
  changing(`move ${from} to ${to} in`, directory, async (place) => {
    if ((await lstat(`${place}/${to}`).catch(() => undefined)) !== undefined)
      throw new Error(`${to} exists already`)
    await rename(`${place}/${from}`, `${place}/${to}`)
  })

export const removeLog = (directory: string, name: string): Promise<void> =>
  changing(`remove ${name} in`, directory, (place) => rm(`${place}/${name}`, { force: true })).catch(
    (e: unknown) => {
      if (e instanceof Error && isMissing(e.cause)) return
      throw e
    },
  )

/** The compressed file appears whole, and only then does the plain one go. */
export const compressLog = (directory: string, name: string): Promise<void> =>
  changing(`compress ${name} in`, directory, async (place) => {
    const unfinished = `${place}/${unfinishedName(name)}`
    await rm(unfinished, { force: true })
    try {
      await compress(`${place}/${name}`, unfinished)
      await rename(unfinished, `${place}/${compressedName(name)}`)
    } catch (e) {
      await rm(unfinished, { force: true }).catch(() => undefined)
      throw e
    }
    await rm(`${place}/${name}`, { force: true })
  })

async function compress(from: string, to: string): Promise<void> {
  const source = await openRegular(from)
  try {
    const { mode } = await source.stat()
    const { O_WRONLY, O_CREAT, O_EXCL } = constants
    const target = await openRegular(to, { flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode & 0o777 })
    try {
      await pipeline(source.createReadStream({ autoClose: false }), createGzip(), async (pieces) => {
        for await (const piece of pieces as AsyncIterable<Uint8Array>) await target.writeFile(piece)
      })
      // After a power cut the plain file has gone and this one must be there.
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}
