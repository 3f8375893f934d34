// The programs in critest's images. They are put in a directory on the host: inside a machine there is no compiler.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pauseProgram } from '../../src/lab/images/programs.js'
import { findCommand } from '../../src/lab/packages.js'
import { effectiveUidProgram } from './effective-uid.js'

export interface ImagePrograms {
  /** Debian's static one. */
  readonly busybox: Uint8Array
  readonly pause: Uint8Array
  /** Of the image nonewprivs. */
  readonly nnp: Uint8Array
}

export async function writeImagePrograms(directory: string): Promise<void> {
  const busybox = findCommand('busybox')
  if (busybox === undefined)
    throw new Error('the images are made from busybox-static, which is not installed')
  await mkdir(directory, { recursive: true })
  await copyFile(busybox, join(directory, 'busybox'))
  await writeFile(join(directory, 'pause'), pauseProgram())
  await writeFile(join(directory, 'nnp'), effectiveUidProgram())
}

export const readImagePrograms = async (directory: string): Promise<ImagePrograms> => ({
  busybox: await readFile(join(directory, 'busybox')),
  pause: await readFile(join(directory, 'pause')),
  nnp: await readFile(join(directory, 'nnp')),
})
