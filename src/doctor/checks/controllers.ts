// The controllers that pods cannot do without, and those that only some features want.
import { type Check, error, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'

const needed = ['cpu', 'memory', 'pids']
const useful: Readonly<Record<string, string>> = {
  cpuset: 'CPU pinning',
  io: 'disk metrics of containers',
  hugetlb: 'limits on huge pages',
}

export const controllers: Check<DoctorFacts> = {
  name: 'controllers',
  asks: 'Does the kernel provide the cgroup controllers that pods need?',
  run({ cgroups }) {
    if (cgroups === undefined) return skipped('no cgroup hierarchy is readable')
    const evidence = [`at the root: ${cgroups.controllers.join(' ') || 'none'}`]
    const missing = needed.filter((c) => !cgroups.controllers.includes(c))
    if (missing.length > 0)
      return error(
        `the controllers ${missing.join(', ')} are missing`,
        'remove cgroup_disable= from the kernel command line, or use a kernel with these controllers; in a container, delegate them',
        evidence,
      )
    if (cgroups.mode === 'v2' && cgroups.podControllers !== undefined) {
      evidence.push(`in the pod tree: ${cgroups.podControllers.join(' ') || 'none'}`)
      const off = needed.filter((c) => !cgroups.podControllers?.includes(c))
      if (off.length > 0)
        return error(
          `the controllers ${off.join(', ')} are disabled in the pod tree, so these limits of pods have no effect`,
          'restart the kubelet, which enables them from the root down; check for another program that writes cgroup.subtree_control',
          evidence,
        )
    }
    const lacking =
      cgroups.mode === 'v2' ? Object.keys(useful).filter((c) => !cgroups.controllers.includes(c)) : []
    return lacking.length === 0
      ? ok(...evidence)
      : info(`this kernel has no ${lacking.map((c) => `${c} (${useful[c] ?? ''})`).join(', ')}`, evidence)
  },
}
