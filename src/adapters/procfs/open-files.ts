// Counts the descriptors of a process. The directory is read entry by entry, so that a process with a million of them
// costs no more than the bound.
import { opendirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenFiles } from '../../ports/procfs.js'
import { absent, isAbsent } from './absent.js'

export function countOpenFiles(directory: string, max: number): OpenFiles | undefined {
  const handle = absent(() => opendirSync(directory))
  if (handle === undefined) return undefined
  let descriptors = 0
  let sockets = 0
  try {
    for (let entry = handle.readSync(); entry !== null && descriptors < max; entry = handle.readSync()) {
      descriptors++
      const { name } = entry
      // Closed in between: it was open when the directory was read.
      if (absent(() => readlinkSync(join(directory, name)))?.startsWith('socket')) sockets++
    }
  } catch (error) {
    // The process ended while it was being listed.
    if (isAbsent(error)) return undefined
    throw error
  } finally {
    handle.closeSync()
  }
  return { descriptors, sockets }
}
