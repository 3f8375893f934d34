// Which cgroup hierarchies this machine has, decided from its mounts.
import { keelsonError } from '../errors.js'
import type { MountInfo } from '../kernel-text/mountinfo.js'

export type CgroupMode = 'v2' | 'v1' | 'hybrid'

export interface CgroupLayout {
  readonly mode: CgroupMode
  /** Mount point of cgroup2, if there is one. */
  readonly unified: string | undefined
  /** v1 controller -> mount point of its hierarchy; co-mounted controllers share one. Empty on v2. */
  readonly hierarchies: ReadonlyMap<string, string>
  /** Mount points of v1 hierarchies without a controller, such as systemd's. */
  readonly named?: readonly string[]
}

/** Words among a v1 mount's options that are no controllers. */
const notControllers =
  /^(rw|ro|relatime|noprefix|xattr|clone_children|cpuset_v2_mode|favordynmods|release_agent=.*|name=.*)$/

/**
 * Hybrid: controllers live in v1 hierarchies and a cgroup2 without them is mounted beside; upstream treats that as v1.
 * A mount of a part of the hierarchy (root other than `/`) counts: that is how containers see theirs.
 */
export function decideCgroupLayout(mounts: readonly MountInfo[]): CgroupLayout {
  const hierarchies = new Map<string, string>()
  const split = mounts.filter((m) => m.fsType === 'cgroup')
  const named = split.filter((m) => m.superOptions.some((option) => option.startsWith('name=')))
  for (const mount of split)
    for (const option of mount.superOptions)
      if (!notControllers.test(option) && !hierarchies.has(option)) hierarchies.set(option, mount.mountPoint)
  const unified = mounts.find((m) => m.fsType === 'cgroup2')?.mountPoint
  if (hierarchies.size > 0)
    return {
      mode: unified === undefined ? 'v1' : 'hybrid',
      unified,
      hierarchies,
      named: named.map(({ mountPoint }) => mountPoint),
    }
  if (unified === undefined)
    throw keelsonError(
      'cgroup.not-mounted',
      'find the cgroup hierarchies: none is mounted; mount cgroup2 at /sys/fs/cgroup',
    )
  return { mode: 'v2', unified, hierarchies }
}

/** The version whose control files carry the controllers. */
export const controlVersion = (layout: CgroupLayout): 'v1' | 'v2' => (layout.mode === 'v2' ? 'v2' : 'v1')
