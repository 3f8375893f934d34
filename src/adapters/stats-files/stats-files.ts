// Capacity and directory usage from the filesystem. Walks are bounded and go directory by directory, so that a large
// tree never holds up anything else.
import type { Dirent } from 'node:fs'
import { lstat, opendir, readdir, readFile, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'
import type { DirectoryUsage, FsCapacity, StatsFiles, UsageOptions } from '../../ports/stats-files.js'

const gone = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ESTALE']

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (e) {
    if (e instanceof Error && 'code' in e && gone.includes(String(e.code))) return undefined
    throw e
  }
}

/** Numbers of a device as the kernel packs them into st_dev. */
const majorMinor = (dev: bigint): string => {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  return `${major}:${minor}`
}

/** Names of devices. A node with pods has hundreds of mounts: their list is read when a path is on another device than before. */
function createDevices(mountInfoFile: string): (path: string) => Promise<string | undefined> {
  const known = new Map<string, { readonly dev: bigint; readonly name: string }>()
  return async (path) => {
    const at = await unlessGone(stat(path, { bigint: true }))
    if (at === undefined) return undefined
    const before = known.get(path)
    if (before?.dev === at.dev) return before.name
    const numbers = majorMinor(at.dev)
    const lines = (await readFile(mountInfoFile, 'utf8')).match(new RegExp(`^\\d+ \\d+ ${numbers} .*$`, 'gm'))
    const name = parseMountInfo(lines?.at(-1) ?? '')[0]?.source ?? numbers
    known.set(path, { dev: at.dev, name })
    return name
  }
}

/** A block of st_blocks is 512 bytes, whatever the filesystem's own are. */
const BLOCK_BYTES = 512n

/** In one step where only the node writes, as in directories of logs; a volume can hold more names than fit into memory. */
const namesIn = (directory: string, ofVolume: boolean): Promise<Iterable<Dirent> | AsyncIterable<Dirent>> =>
  ofVolume ? opendir(directory) : readdir(directory, { withFileTypes: true })

async function usage(
  top: string,
  { maxEntries, recursive = true, signal }: UsageOptions,
): Promise<DirectoryUsage | undefined> {
  const start = await unlessGone(lstat(top, { bigint: true }))
  if (start === undefined || !start.isDirectory()) return undefined
  let bytes = recursive ? start.blocks * BLOCK_BYTES : 0n
  let inodes = recursive ? 1n : 0n
  let seen = 0
  const linked = new Set<bigint>()
  const open = [top]
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    signal?.throwIfAborted()
    const entries = await unlessGone(namesIn(directory, recursive))
    if (entries === undefined) continue
    for await (const entry of entries) {
      if (++seen > maxEntries) return { bytes, inodes, complete: false }
      if (!recursive && entry.isDirectory()) continue
      const path = join(directory, entry.name)
      const info = await unlessGone(lstat(path, { bigint: true }))
      if (info === undefined || info.dev !== start.dev) continue
      if (info.isDirectory()) {
        if (!recursive) continue // file systems that do not say it in their lists
        open.push(path)
      } else if (info.nlink > 1n) {
        if (linked.has(info.ino)) continue
        linked.add(info.ino)
      }
      bytes += info.blocks * BLOCK_BYTES
      inodes += 1n
    }
  }
  return { bytes, inodes, complete: true }
}

const idOf = async (path: string): Promise<string> => (await unlessGone(readFile(path, 'utf8')))?.trim() ?? ''

export function createStatsFiles(mountInfoFile = '/proc/self/mountinfo'): StatsFiles {
  const deviceOf = createDevices(mountInfoFile)
  return {
    async machineIds() {
      const machineId = await idOf('/etc/machine-id')
      return {
        machineId,
        // Machines without firmware tables, as small virtual ones: what upstream's node shows there.
        systemUuid: (await idOf('/sys/class/dmi/id/product_uuid')) || machineId,
        bootId: await idOf('/proc/sys/kernel/random/boot_id'),
      }
    },
    async capacity(path): Promise<FsCapacity | undefined> {
      const fs = await unlessGone(statfs(path, { bigint: true }))
      const device = await deviceOf(path)
      if (fs === undefined || device === undefined) return undefined
      return {
        capacityBytes: fs.blocks * fs.bsize,
        availableBytes: fs.bavail * fs.bsize,
        inodes: fs.files,
        inodesFree: fs.ffree,
        device,
      }
    },
    usage,
    async directories(directory) {
      const entries = await unlessGone(readdir(directory, { withFileTypes: true }))
      return entries?.filter((e) => e.isDirectory()).map((e) => e.name)
    },
  }
}
