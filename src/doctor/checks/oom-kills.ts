// KEP-2570 names OOM kills as the sign for a rollback.
import { type Check, firstOf, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { createNamer } from '../names.js'

export const oomKills: Check<DoctorFacts> = {
  name: 'oom-kills',
  asks: 'Has the kernel killed processes of running containers for want of memory?',
  run(facts) {
    const { cgroups } = facts
    if (cgroups === undefined) return skipped('no cgroup hierarchy could be read')
    if (cgroups.mode !== 'v2') return skipped('cgroup v1 counts them elsewhere')
    const hit = cgroups.pods.filter((c) => c.containerId !== undefined && c.after.oomKills > 0n)
    if (hit.length === 0) return ok('memory.events oom_kill is 0 everywhere')
    const nameOf = createNamer(facts)
    const evidence = firstOf(hit.map((c) => `${nameOf(c)}: oom_kill ${c.after.oomKills}`))
    const rising = hit.some((c) => c.after.oomKills > c.before.oomKills)
    return rising
      ? warn(
          'processes are being killed for want of memory right now',
          'raise the limits of these pods, or find what they leak',
          evidence,
        )
      : info('processes of running containers were killed for want of memory', evidence)
  },
}
