// KEP-2570 names OOM kills as the sign for a rollback.
import { type Check, firstOf, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { createNamer } from '../names.js'

export const oomKills: Check<DoctorFacts> = {
  name: 'oom-kills',
  asks: 'Are the running containers free of OOM kills?',
  run(facts) {
    const { cgroups } = facts
    if (cgroups === undefined) return skipped('no cgroup hierarchy is readable')
    if (cgroups.mode !== 'v2') return skipped('cgroup v1 has no memory.events')
    const hit = cgroups.pods.filter((c) => c.containerId !== undefined && c.after.oomKills > 0n)
    if (hit.length === 0) return ok('memory.events oom_kill is 0 in every container')
    const nameOf = createNamer(facts)
    const evidence = firstOf(hit.map((c) => `${nameOf(c)}: oom_kill ${c.after.oomKills}`))
    const rising = hit.some((c) => c.after.oomKills > c.before.oomKills)
    return rising
      ? warn(
          'OOM kills are happening now',
          'raise the memory limits of these pods, or find the leak',
          evidence,
        )
      : info('running containers have had OOM kills', evidence)
  },
}
