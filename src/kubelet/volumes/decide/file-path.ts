// Where a file of a volume may lie. Keys of config maps and secrets become paths, and the API server is not trusted with the
// node's files.
import { volumeProblem } from './files-of-volume.js'

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const maxName = 255
const maxPath = 4096

/** The path without empty and `.` parts. Throws for one that leads out or is in the way of the volume's own names. */
export function cleanFilePath(path: string): string {
  if (path === '') throw volumeProblem('invalid path: must not be empty: ""')
  if (path.startsWith('/')) throw volumeProblem(`invalid path: must be relative path: ${path}`)
  if (bytesOf(path) > maxPath)
    throw volumeProblem(`invalid path: must be less than or equal to ${maxPath} characters`)
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw volumeProblem(`invalid path: must not contain '..': ${path}`)
  if (parts.some((part) => bytesOf(part) > maxName))
    throw volumeProblem(`invalid path: filenames must be less than or equal to ${maxName} characters`)
  if (parts[0]?.startsWith('..') === true)
    throw volumeProblem(`invalid path: must not start with '..': ${path}`)
  if (parts.length === 0 || path.includes('\0')) throw volumeProblem(`invalid path: ${path}`)
  return parts.join('/')
}
