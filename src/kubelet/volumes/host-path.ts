// A path of the host, checked or made as its type says. Used for volumes of pods and for persistent volumes.
import type { HostPathType } from '../../core/pod/spec/volume.js'
import type { PathKind, PodHost } from '../../ports/pod-host.js'
import { volumeProblem } from './decide/files-of-volume.js'

const wanted: Readonly<Record<HostPathType, PathKind>> = {
  DirectoryOrCreate: 'directory',
  Directory: 'directory',
  FileOrCreate: 'file',
  File: 'file',
  Socket: 'socket',
  CharDevice: 'char-device',
  BlockDevice: 'block-device',
}

const words: Readonly<Record<PathKind, string>> = {
  directory: 'directory',
  file: 'file',
  socket: 'socket file',
  'char-device': 'character device',
  'block-device': 'block device',
  other: 'other kind of file',
}

export async function checkHostPath(
  path: string,
  type: HostPathType | undefined,
  host: Pick<PodHost, 'kindOf' | 'ensureDirectory' | 'ensureFile'>,
): Promise<void> {
  if (type === undefined) return
  const found = await host.kindOf(path)
  if (found === undefined && type === 'DirectoryOrCreate') return host.ensureDirectory(path, { mode: 0o755 })
  if (found === undefined && type === 'FileOrCreate') return makeFile(path, host)
  if (found === wanted[type]) return
  const expected = words[wanted[type]]
  throw volumeProblem(
    found === undefined
      ? `hostPath type check failed: ${path} is not a ${expected}, there is no such file or directory`
      : `hostPath type check failed: ${path} is not a ${expected}, it's a ${words[found]}`,
  )
}

/** Its directory must be there, as upstream has it. */
async function makeFile(path: string, host: Pick<PodHost, 'kindOf' | 'ensureFile'>): Promise<void> {
  const parent = path.slice(0, path.replace(/\/+$/, '').lastIndexOf('/')) || '/'
  if ((await host.kindOf(parent)) === undefined)
    throw volumeProblem(`open ${path}: no such file or directory`)
  await host.ensureFile(path, 0o644)
}
