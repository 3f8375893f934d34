// What a pod uses, as rankings and limits compare it. Undefined means unknown, which is not the same as 0.
import type { FsUsage } from '../../../stats/filesystem/filesystem.js'
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

/** Disk usage that was measured before `sinceNanos` counts as unknown. */
export function podUse(pod: PodSample, files: PodFilesystems, sinceNanos: bigint): PodUse {
  const fresh = <F extends FsUsage>(fs: F | undefined): F | undefined =>
    fs !== undefined && fs.timeNanos >= sinceNanos ? fs : undefined
  const parts: FsUsage[] = files.otherParts(pod).filter((part) => fresh(part) !== undefined)
  const containers = pod.containers.map((container): ContainerUse => {
    const rootfs = fresh(files.rootfs(container))
    const logs = fresh(files.logs(pod, container))
    parts.push(...[rootfs, logs].filter((part) => part !== undefined))
    return {
      name: container.info.name,
      memoryBytes: container.usage.memory?.workingSetBytes,
      rootfs: diskUse(rootfs),
      logs: diskUse(logs),
    }
  })
  const local = files.volumes(pod).filter((volume) => volume.isLocalEphemeral && fresh(volume) !== undefined)
  return {
    uid: pod.info.ref.uid,
    memoryBytes: pod.usage.memory?.workingSetBytes,
    processes: pod.processes?.processCount,
    containers,
    volumes: new Map(local.map((volume) => [volume.name, diskUse(volume) ?? none])),
    ephemeralBytes: sumOf([...parts, ...local].map((part) => part.usedBytes)),
  }
}

const none: DiskUse = { bytes: 0n, inodes: 0n }

/** Undefined: nothing is known. */
const sumOf = (values: readonly (bigint | undefined)[]): bigint | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0n)
}
