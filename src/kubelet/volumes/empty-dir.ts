// emptyDir: a directory of the pod's own, on disk, in memory, or in huge pages. Made once; what containers put into it stays
// as they made it.

import type { Volume } from '../../core/pod/spec/volume.js'
import { quantityValue } from '../../core/units/quantity.js'
import type { MountedVolume, MountRequest } from './context.js'
import { hugePageSize, memoryVolumeSize } from './decide/memory-size.js'
import { readyFile, volumeDirectory } from './paths.js'

type EmptyDir = Extract<Volume, { readonly kind: 'emptyDir' }>

export async function mountEmptyDir(volume: EmptyDir, m: MountRequest): Promise<MountedVolume> {
  const { spec, c } = m
  const { uid } = spec.pod
  const directory = volumeDirectory(c.paths, uid, 'empty-dir', volume.name)
  const ready = readyFile(c.paths, uid, volume.name)
  const wasReady = (await c.host.kindOf(ready)) === 'file' && (await c.host.kindOf(directory)) === 'directory'
  await c.host.ensureDirectory(directory, { mode: 0o777 })
  const mounted = volume.medium === 'disk' ? false : await mountMemory(volume, directory, m)
  const { fsGroup } = spec.security
  // A reboot takes what is in memory, and its group with it.
  if (fsGroup !== undefined && (!wasReady || mounted))
    await c.volumeHost.setGroup(directory, { gid: fsGroup, readOnly: false })
  await c.host.ensureFile(ready, 0o640)
  return { hostPath: directory, readOnly: false }
}

/** True: it was mounted by this call. */
async function mountMemory(volume: EmptyDir, directory: string, { spec, c }: MountRequest): Promise<boolean> {
  if (volume.medium === 'hugepages')
    return c.volumeHost.mountHugePages(directory, hugePageSize(spec.pod, volume.pageSize))
  const memory = (await c.allocatable()).get('memory')
  const size = memoryVolumeSize({
    allocatableMemory: memory === undefined ? 0n : quantityValue(memory),
    podLimit: c.podMemoryLimit(spec),
    sizeLimit: volume.sizeLimit,
  })
  return c.volumeHost.mountTmpfs(directory, size > 0n ? size : undefined)
}
