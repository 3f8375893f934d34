// /proc/PID/mountinfo: mounts with their octal escapes undone.
import { splitLines } from './words.js'

export interface MountInfo {
  readonly id: number
  readonly parentId: number
  readonly majorMinor: string
  /** Directory of the file system that the mount shows. */
  readonly root: string
  readonly mountPoint: string
  readonly options: readonly string[]
  readonly fsType: string
  readonly source: string
  readonly superOptions: readonly string[]
}

/** `\040` -> blank; the kernel escapes blank, tab, newline and backslash. */
const undoEscapes = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const escapePath = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)

/** Lines that do not have the documented form are left out. */
export const parseMountInfo = (text: string): MountInfo[] => splitLines(text).flatMap(parseLine)

function parseLine(line: string): MountInfo[] {
  // Optional fields stand between the options and a lone dash.
  const [before, after] = line.split(' - ', 2)
  if (before === undefined || after === undefined) return []
  const [id, parentId, majorMinor, root, mountPoint, options] = before.split(' ')
  const [fsType, source, superOptions] = after.split(' ')
  if (mountPoint === undefined || root === undefined || majorMinor === undefined) return []
  return [
    {
      id: Number(id),
      parentId: Number(parentId),
      majorMinor,
      root: undoEscapes(root),
      mountPoint: undoEscapes(mountPoint),
      options: (options ?? '').split(','),
      fsType: fsType ?? '',
      source: undoEscapes(source ?? ''),
      superOptions: (superOptions ?? '').split(','),
    },
  ]
}

/**
 * The mount points at a place and below it; outer ones before those that lie upon them. A node with 500 pods has thousands of
 * mounts: only lines that name the place are parsed.
 */
export function mountPointsAt(text: string, place: string): string[] {
  const named = ` ${escapePath(place)}`
  const points: string[] = []
  for (let at = text.indexOf(named); at >= 0; ) {
    const end = text.indexOf('\n', at)
    const line = text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end)
    for (const { mountPoint } of parseLine(line))
      if (mountPoint === place || mountPoint.startsWith(`${place}/`)) points.push(mountPoint)
    at = end < 0 ? -1 : text.indexOf(named, end)
  }
  return points
}
