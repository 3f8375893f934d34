// The directories of a pod and its volumes: made before its sandbox, checked where they must be there already.
import { keelsonError } from '../../../core/errors.js'
import type { HostPathType, PodSpec, Volume } from '../../../core/pod/spec/spec.js'
import { allContainerSpecs } from '../../../core/pod/spec/spec.js'
import type { PathKind, PodHost } from '../../../ports/pod-host.js'
import { emptyDirPath, type PodPaths, podDirectory, podLogDirectory } from '../to-cri/names.js'

export async function makePodDirectories(spec: PodSpec, paths: PodPaths, host: PodHost): Promise<void> {
  const { uid } = spec.pod
  await host.ensureDirectory(podDirectory(paths, uid), { mode: 0o750 })
  const logs = podLogDirectory(paths, spec.pod)
  await host.ensureDirectory(logs, { mode: 0o755 })
  for (const { name } of allContainerSpecs(spec))
    await host.ensureDirectory(`${logs}/${name}`, { mode: 0o755 })
  for (const volume of spec.volumes) await makeVolume(volume, spec, paths, host)
}

async function makeVolume(volume: Volume, spec: PodSpec, paths: PodPaths, host: PodHost): Promise<void> {
  if (volume.kind === 'hostPath') return checkHostPath(volume, host)
  const path = emptyDirPath(paths, spec.pod.uid, volume.name)
  const { fsGroup } = spec.security
  const group = fsGroup === undefined ? {} : { gid: fsGroup }
  // Everybody may write: which user a container runs as is its own business.
  await host.ensureDirectory(path, { mode: 0o777 })
  if (volume.medium === 'memory') await host.mountTmpfs(path, volume.sizeLimit, 0o777)
  if (fsGroup !== undefined) await host.ensureDirectory(path, { mode: 0o777, ...group })
}

const wanted: Readonly<Record<HostPathType, PathKind>> = {
  DirectoryOrCreate: 'directory',
  Directory: 'directory',
  FileOrCreate: 'file',
  File: 'file',
  Socket: 'socket',
  CharDevice: 'char-device',
  BlockDevice: 'block-device',
}

async function checkHostPath(
  { path, type, name }: Extract<Volume, { readonly kind: 'hostPath' }>,
  host: PodHost,
): Promise<void> {
  if (type === undefined) return
  const found = await host.kindOf(path)
  if (found === undefined && type === 'DirectoryOrCreate') return host.ensureDirectory(path, { mode: 0o755 })
  if (found === undefined && type === 'FileOrCreate') return host.ensureFile(path, 0o644)
  if (found === wanted[type]) return
  throw keelsonError(
    'pod.volume',
    `mount volume ${name}: ${path} is ${found ?? 'not there'}, the manifest asks for ${type}; fix the host or the manifest`,
    { volume: name, path, type },
  )
}
