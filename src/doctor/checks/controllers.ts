// The controllers that pods cannot do without, and those that only some features want.
import { type Check, error, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'

const needed = ['cpu', 'memory', 'pids']
const useful: Readonly<Record<string, string>> = {
  cpuset: 'CPU pinning',
  io: 'disk values of containers',
  hugetlb: 'limits on huge pages',
}

export const controllers: Check<DoctorFacts> = {
  name: 'controllers',
  asks: 'Does the kernel hand out the cgroup controllers that pods need?',
  run({ cgroups }) {
    if (cgroups === undefined) return skipped('no cgroup hierarchy could be read')
    const evidence = [`at the root: ${cgroups.controllers.join(' ') || 'none'}`]
    const missing = needed.filter((c) => !cgroups.controllers.includes(c))
    if (missing.length > 0)
      return error(
        `the controllers ${missing.join(', ')} are missing`,
        'take cgroup_disable= off the kernel command line, or use a kernel that has them; in a container, delegate them',
        evidence,
      )
    if (cgroups.mode === 'v2' && cgroups.podControllers !== undefined) {
      evidence.push(`in the pod tree: ${cgroups.podControllers.join(' ') || 'none'}`)
      const off = needed.filter((c) => !cgroups.podControllers?.includes(c))
      if (off.length > 0)
        return error(
          `the controllers ${off.join(', ')} are off in the pod tree, so pods have no such limits`,
          'restart the kubelet, which enables them from the root down; look for a manager that writes cgroup.subtree_control',
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
