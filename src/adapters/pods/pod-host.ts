// The machine under the pods: digests, addresses, and the calls that the files beside carry out.
import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { PodHost } from '../../ports/pod-host.js'
import { compressLog, listLogs, logSize, moveLog, removeLog } from './container-logs.js'
import {
  ensureDirectory,
  ensureFile,
  kindOf,
  link,
  linkTarget,
  list,
  remove,
  resolvePath,
  writeInPlace,
} from './directories.js'
import { removeTree } from './mounts.js'
import { openLog, readAt, readBelow } from './read-at.js'

function addresses(): string[] {
  const all = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((i) => !i.internal && !i.address.startsWith('fe80:'))
  const of = (family: string): string[] => all.filter((i) => i.family === family).map((i) => i.address)
  return [...of('IPv4'), ...of('IPv6')]
}

export const createPodHost = (): PodHost => ({
  digest: (text) => createHash('sha256').update(text).digest('hex'),
  addresses,
  ensureDirectory,
  ensureFile,
  writeFile: writeInPlace,
  kindOf,
  list,
  link,
  linkTarget,
  remove,
  removeTree,
  resolve: resolvePath,
  readAt,
  readBelow,
  openLog,
  listLogs,
  logSize,
  moveLog,
  removeLog,
  compressLog,
})
