// When a file came to be as it is.
import { lstatSync, statSync } from 'node:fs'

const options = { bigint: true, throwIfNoEntry: false } as const

/** Of the file itself, not of what a link leads to. Undefined: no such file. */
export const mtimeNanos = (path: string): bigint | undefined => lstatSync(path, options)?.mtimeNs

/**
 * The last change of any kind, of a link or of what it leads to. The kernel's own time: unlike the time of the content
 * it cannot be set back, and a file that was written earlier and moved into place now has changed now.
 */
export function changedNanos(path: string): bigint | undefined {
  const [own, aim] = [lstatSync(path, options)?.ctimeNs, statSync(path, options)?.ctimeNs]
  if (own === undefined || aim === undefined) return undefined
  return own > aim ? own : aim
}
