// The images that a person brings along with `--image-tar FILE`.
import { access, constants, open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { asKeelsonError, keelsonError, rethrowBug } from '../../core/errors.js'
import { importArchive } from '../../lab/containerd/start-containerd.js'
import { lastLines, runProgram } from '../../lab/process.js'
import type { Progress } from '../../up/progress.js'

const howToMake = 'create one with `docker save IMAGE -o FILE` or `ctr images export FILE IMAGE`'

/** Known before anything is started; containerd itself would say it after the boot. */
export async function requireImageTars(files: readonly string[], signal: AbortSignal): Promise<string[]> {
  const paths = files.map((file) => resolve(file))
  for (const path of paths) {
    const bad = (why: string, cause?: unknown): Error =>
      keelsonError('input.unreadable', `read --image-tar ${path}: ${why}; ${howToMake}`, { path }, cause)
    try {
      if (!(await stat(path)).isFile()) throw bad('it is not a file')
      await access(path, constants.R_OK)
    } catch (e) {
      if (e instanceof Error && 'syscall' in e) throw bad(e.message, e)
      throw e
    }
    // containerd reads plain archives only, while `tar` would unpack any.
    if (!(await startsAsTar(path)))
      throw bad('it is not a tar archive; unpack a compressed one first (gunzip)')
    const { code, output } = await runProgram(['tar', '--list', '--file', path], { signal })
    if (code !== 0) throw bad(`it is a broken tar archive (${lastLines(output, 1)})`)
    if (!/^(\.\/)?(manifest|index)\.json$/m.test(output))
      throw bad('it has no image (neither manifest.json nor index.json)')
  }
  return paths
}

/** The magic of POSIX and GNU archives, in the header of the first file. */
async function startsAsTar(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(262), 0, 262, 0)
    return bytesRead === 262 && buffer.subarray(257).toString('latin1') === 'ustar'
  } finally {
    await file.close()
  }
}

export async function loadImageTars(
  files: readonly string[],
  endpoint: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) {
    const names = await importArchive(endpoint.replace(/^unix:\/\//, ''), file, signal).catch(
      (e: unknown) => {
        rethrowBug(e)
        throw keelsonError(
          'input.unreadable',
          `load --image-tar ${file}: ${asKeelsonError(e).message}; ${howToMake}`,
          { path: file },
          e,
        )
      },
    )
    progress.step(
      'image',
      names.length === 0
        ? `${file} has no image with a name; save the image by its name, not by its ID`
        : `loaded ${names.join(', ')} from ${file}`,
    )
  }
}
