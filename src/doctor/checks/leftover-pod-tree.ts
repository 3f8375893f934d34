// A driver change leaves the old tree's empty directories behind: harmless, but misleading.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { type Check, info, ok, skipped } from '../check.js'
import type { CgroupFacts, DoctorFacts } from '../facts.js'

/** The tree without processes, where the other one holds some. */
export function leftoverTree({ podTrees, pods }: CgroupFacts): string | undefined {
  const isPopulated = (driver: CgroupDriver): boolean =>
    pods.some((c) => c.path === podTrees[driver] && c.populated)
  for (const [old, other] of [
    ['cgroupfs', 'systemd'],
    ['systemd', 'cgroupfs'],
  ] as const)
    if (podTrees[old] !== undefined && !isPopulated(old) && isPopulated(other)) return podTrees[old]
  return undefined
}

export const leftoverPodTree: Check<DoctorFacts> = {
  name: 'leftover-pod-tree',
  asks: 'Is there no empty cgroup tree left from another cgroup driver?',
  run({ cgroups }) {
    if (cgroups?.mode !== 'v2') return skipped('cgroup v2 only')
    const left = leftoverTree(cgroups)
    return left === undefined
      ? ok('no empty tree of another driver')
      : info(
          `${left} has no processes; the pods are in the other tree`,
          [left],
          'remove it with keelson doctor --fix leftover-pod-tree',
        )
  },
}
