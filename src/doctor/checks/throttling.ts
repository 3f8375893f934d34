// KEP-2570, monitoring: containers that wait at memory.high, and those that are about to.
import { counted } from '../../core/units/counted.js'
import { type Check, type Finding, firstOf, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'
import { createNamer } from '../names.js'
import { isLivelocked, isNearHigh, isThrottled, type PodCgroup } from '../pod-cgroup.js'

export const throttling: Check<DoctorFacts> = {
  name: 'throttling',
  asks: 'Do containers run without throttling at memory.high?',
  run(facts) {
    const { cgroups } = facts
    if (cgroups === undefined) return skipped('no cgroup hierarchy is readable')
    if (cgroups.mode !== 'v2') return skipped('cgroup v1 has no memory.high')
    const candidates = cgroups.pods.filter((c) => c.containerId !== undefined || c.high !== 'max')
    // Those are the business of livelock.
    const alive = candidates.filter((c) => !isLivelocked(c, cgroups.intervalMs))
    const throttled = alive.filter(isThrottled)
    const near = alive.filter((c) => isNearHigh(c) && !throttled.includes(c))
    const nameOf = createNamer(facts)
    const show = (list: readonly PodCgroup[]) => firstOf(list.map((c) => describe(c, nameOf)))
    const findings: Finding[] = []
    if (throttled.length > 0)
      findings.push(
        warn(
          `${counted(throttled.length, 'container is', 'containers are')} throttled significantly`,
          'raise the memory limit or the request of their pods, or memoryThrottlingFactor of the node (1.0: no early throttling)',
          show(throttled),
        ),
      )
    if (near.length > 0)
      findings.push(
        info(
          `${counted(near.length, 'container is', 'containers are')} within 5 % of memory.high`,
          show(near),
          'monitor memory.events',
        ),
      )
    return findings.length === 0 ? ok(`${counted(candidates.length, 'container')} checked`) : findings
  },
}

function describe({ high, before, after, ...c }: PodCgroup, nameOf: (c: PodCgroup) => string): string {
  const rise = after.highEvents - before.highEvents
  const pressure = after.fullAvg10 === undefined ? '' : `, memory.pressure full avg10=${after.fullAvg10}`
  return `${nameOf({ high, before, after, ...c })}: memory.current=${formatAmount(after.current)} memory.high=${formatAmount(high)}, high events +${rise}${pressure}`
}
