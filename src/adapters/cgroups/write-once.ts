// One write call to a file that exists: the kernel takes each call as a whole order, and never creates a control file.
import { closeSync, constants, openSync, writeSync } from 'node:fs'

export function writeOnce(target: string, value: string): void {
  // Truncating means nothing to cgroupfs; on an ordinary directory it makes the new text replace the old.
  const fd = openSync(target, constants.O_WRONLY | constants.O_TRUNC)
  try {
    writeSync(fd, value)
  } finally {
    closeSync(fd)
  }
}
