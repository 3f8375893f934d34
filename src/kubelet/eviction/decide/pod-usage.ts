// What a pod uses, as rankings and limits compare it. Undefined means unknown, which is not the same as 0.
import { addUp, type FsUsage } from '../../../stats/filesystem/filesystem.js'
import type { PodFilesystems } from '../../../stats/render/summary.js'
import type { PodSample } from '../../../stats/sample.js'

export interface DiskUse {
  readonly bytes: bigint
  readonly inodes: bigint
}

interface ContainerUse {
  readonly name: string
  readonly memoryBytes: bigint | undefined
  readonly rootfs: DiskUse | undefined
  readonly logs: DiskUse | undefined
}

export interface PodUse {
  readonly uid: string
  readonly memoryBytes: bigint | undefined
  readonly processes: bigint | undefined
  readonly containers: readonly ContainerUse[]
  readonly volumes: ReadonlyMap<string, DiskUse>
  /** Writable layers, logs and local volumes together. */
  readonly ephemeralBytes: bigint | undefined
}

const diskUse = (fs: FsUsage | undefined): DiskUse | undefined =>
  fs && { bytes: fs.usedBytes ?? 0n, inodes: fs.inodesUsed ?? 0n }

export function podUse(pod: PodSample, files: PodFilesystems): PodUse {
  const parts: FsUsage[] = [...files.otherParts(pod)]
  const containers = pod.containers.map((container): ContainerUse => {
    const rootfs = files.rootfs(container)
    const logs = files.logs(pod, container)
    parts.push(...[rootfs, logs].filter((part) => part !== undefined))
    return {
      name: container.info.name,
      memoryBytes: container.usage.memory?.workingSetBytes,
      rootfs: diskUse(rootfs),
      logs: diskUse(logs),
    }
  })
  const local = files.volumes(pod).filter((volume) => volume.isLocalEphemeral)
  return {
    uid: pod.info.ref.uid,
    memoryBytes: pod.usage.memory?.workingSetBytes,
    processes: pod.processes?.processCount,
    containers,
    volumes: new Map(local.map((volume) => [volume.name, diskUse(volume) ?? none])),
    ephemeralBytes: addUp([...parts, ...local], undefined)?.usedBytes,
  }
}

const none: DiskUse = { bytes: 0n, inodes: 0n }
