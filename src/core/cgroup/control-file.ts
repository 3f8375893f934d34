// One control file of a cgroup, read and parsed in one go: readers share a buffer, which the next read overwrites.
import { parseCount, parseCountOrMax } from '../kernel-text/digits.js'
import { decodeText } from '../kernel-text/words.js'

/** What reading takes of a cgroup tree; ports/cgroups.ts has more. */
interface ControlFiles {
  read(path: string, file: string): Uint8Array | undefined
}

/** Undefined: there is no such file, or it does not hold what `parse` expects. */
export function readControl<T>(
  cgroups: ControlFiles,
  path: string,
  file: string,
  parse: (text: Uint8Array) => T | undefined,
): T | undefined {
  const text = cgroups.read(path, file)
  return text === undefined ? undefined : parse(text)
}

const trimmed = (text: Uint8Array): string => decodeText(text).trim()

export const readControlText = (cgroups: ControlFiles, path: string, file: string): string | undefined =>
  readControl(cgroups, path, file, trimmed)

export const readCount = (cgroups: ControlFiles, path: string, file: string): bigint | undefined =>
  readControl(cgroups, path, file, parseCount)

export const readCountOrMax = (
  cgroups: ControlFiles,
  path: string,
  file: string,
): bigint | 'max' | undefined => readControl(cgroups, path, file, parseCountOrMax)
