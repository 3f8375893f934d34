// KEP-2570, failure modes: processes that reclaim and allocate in turns at memory.high and never get on.

import { isKernelAtLeast, parseKernelVersion } from '../../core/release/kernel-check.js'
import { counted } from '../../core/units/counted.js'
import { type Check, error, firstOf, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { createNamer } from '../names.js'
import { isLivelocked } from '../pod-cgroup.js'

export const livelock: Check<DoctorFacts> = {
  name: 'livelock',
  asks: 'Do containers make progress at memory.high?',
  run(facts) {
    const { cgroups, host } = facts
    if (cgroups === undefined) return skipped('no cgroup hierarchy is readable')
    if (cgroups.mode !== 'v2') return skipped('cgroup v1 has no memory.high')
    const stuck = cgroups.pods.filter(
      (c) => c.containerId !== undefined && isLivelocked(c, cgroups.intervalMs),
    )
    if (stuck.length === 0) return ok(`two samples, ${cgroups.intervalMs} ms apart`)
    const nameOf = createNamer(facts)
    const version = parseKernelVersion(host.kernelRelease ?? '')
    const old = version !== undefined && !isKernelAtLeast(version, 5, 9)
    return error(
      `${counted(stuck.length, 'container makes', 'containers make')} no progress: throttled at memory.high without CPU use`,
      `${old ? `kernel ${host.kernelRelease ?? ''} is older than 5.9: upgrade it; until then` : 'until that is fixed'} raise their memory limits, or set memoryThrottlingFactor: 1.0`,
      firstOf(
        stuck.map(
          (c) =>
            `${nameOf(c)}: CPU +${c.after.cpuMicros - c.before.cpuMicros} us, high events +${c.after.highEvents - c.before.highEvents}${
              c.after.fullAvg10 === undefined ? '' : `, memory.pressure full avg10=${c.after.fullAvg10}`
            }`,
        ),
      ),
    )
  },
}
