// KEP-2570, rollback: with the gate off, memory.min and memory.low are 0 and memory.high is max everywhere.
import { counted } from '../../core/units/counted.js'
import { type Check, firstOf, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'
import { createNamer } from '../names.js'
import type { PodCgroup } from '../pod-cgroup.js'

export const hasMemoryValues = ({ min, low, high }: PodCgroup): boolean =>
  min > 0n || low > 0n || high !== 'max'

export const staleValues: Check<DoctorFacts> = {
  name: 'stale-values',
  asks: 'Are there no stale memory values while Memory QoS is off?',
  run(facts) {
    const { cgroups, kubelet } = facts
    if (cgroups?.mode !== 'v2') return skipped('cgroup v1 has no such files')
    if (kubelet.source === undefined) return skipped('cannot tell whether Memory QoS should be on')
    if (kubelet.loaded.config.memoryQos.enabled) return ok('the gate MemoryQoS is on')
    const left = cgroups.pods.filter(hasMemoryValues)
    if (left.length === 0) return ok('the gate is off and no value is set')
    const nameOf = createNamer(facts)
    return warn(
      `Memory QoS is off, but ${counted(left.length, 'cgroup of a pod still has', 'cgroups of pods still have')} its values`,
      'restart the pods, or clear the values with keelson doctor --fix stale-values',
      firstOf(
        left.map(
          (c) =>
            `${nameOf(c)} min=${formatAmount(c.min)} low=${formatAmount(c.low)} high=${formatAmount(c.high)}`,
        ),
      ),
    )
  },
}
