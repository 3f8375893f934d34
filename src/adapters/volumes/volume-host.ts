// The machine under the volumes: what the files beside carry out, with one kind of error.
import { mkdir } from 'node:fs/promises'
import type { VolumeHost } from '../../ports/pods/volume-host.js'
import { failed } from '../pods/directories.js'
import { writeFilesAtomically } from './atomic-writer.js'
import { makeInside } from './inside.js'
import { isMountPoint, runMount } from './mount-commands.js'
import { prepareSubPath } from './sub-path.js'
import { setVolumeGroup } from './volume-group.js'

export function createVolumeHost(): VolumeHost {
  const mountOnce = async (path: string, mount: () => Promise<void>): Promise<boolean> => {
    if (await isMountPoint(path)) return false
    await mount()
    return true
  }
  return {
    writeFiles: (directory, files, group) =>
      named('write the files of', directory, () => writeFilesAtomically(directory, files, group, new Date())),
    setGroup: (directory, options) =>
      named('set the group of', directory, () => setVolumeGroup(directory, options)),
    mountTmpfs: (path, sizeBytes) =>
      named('mount a tmpfs at', path, () => mountOnce(path, () => mountTmpfs(path, sizeBytes))),
    mountHugePages: (path, pageSize) =>
      named('mount huge pages at', path, () =>
        mountOnce(path, () => runMount(['-t', 'hugetlbfs', '-o', `pagesize=${pageSize}`, 'nodev', path])),
      ),
    bind: (source, target) =>
      named('mount', source, async () => {
        await mkdir(target, { recursive: true, mode: 0o750 })
        await mountOnce(target, () => runMount(['--bind', source, target]))
      }),
    makeInside: (volumePath, relative, mode) =>
      named('create a directory in', volumePath, () => makeInside(volumePath, relative, mode)),
    prepareSubPath: (request) => named('mount a part of', request.volumePath, () => prepareSubPath(request)),
  }
}

async function named<T>(what: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (e) {
    throw failed(what, path, e)
  }
}

/** Secrets must not reach the swap area; kernels before 6.4 do not know the option and refuse it. */
async function mountTmpfs(path: string, sizeBytes: bigint | undefined): Promise<void> {
  const size = sizeBytes === undefined ? [] : [`size=${sizeBytes}`]
  const mount = (options: readonly string[]): Promise<void> =>
    runMount(['-t', 'tmpfs', ...(options.length === 0 ? [] : ['-o', options.join(',')]), 'tmpfs', path])
  await mount([...size, 'noswap']).catch(() => mount(size))
}
