// One volume of a pod, by its kind.
import type { Volume } from '../../core/pod/spec/volume.js'
import { mountClaim } from './claim.js'
import type { MountedVolume, MountRequest } from './context.js'
import { volumeProblem } from './decide/files-of-volume.js'
import { mountEmptyDir } from './empty-dir.js'
import { mountFileVolume } from './file-volume.js'
import { checkHostPath } from './host-path.js'

/** Done again it changes nothing that need not change. Errors have the code pod.volume or that of what failed. */
export async function mountVolume(volume: Volume, m: MountRequest): Promise<MountedVolume> {
  switch (volume.kind) {
    case 'configMap':
    case 'secret':
    case 'downwardAPI':
    case 'projected':
      return mountFileVolume(volume, m)
    case 'emptyDir':
      return mountEmptyDir(volume, m)
    case 'hostPath':
      await checkHostPath(volume.path, volume.type, m.c.host)
      return { hostPath: volume.path, readOnly: false }
    case 'persistentVolumeClaim':
      return mountClaim(volume, m)
    case 'image':
      return { image: volume.reference, pullPolicy: volume.pullPolicy }
    case 'unsupported':
      throw volumeProblem(`no volume plugin matched name: kubernetes.io/${volume.source}`)
  }
}
