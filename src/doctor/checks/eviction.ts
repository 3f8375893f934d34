// KEP-2570 protects memory so that eviction has time to act: the two must not work against each other.
import { evictionConflicts } from '../../core/memory-qos/eviction-conflicts.js'
import { parseEvictionThreshold } from '../../core/plan/allocatable.js'
import { bytes } from '../../core/units/bytes.js'
import { type Check, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'
import { createNamer } from '../names.js'

export const eviction: Check<DoctorFacts> = {
  name: 'eviction',
  asks: 'Do memory.min and memory.high leave eviction room to act?',
  run(facts) {
    const { machine, cgroups, kubelet } = facts
    if (machine === undefined) return skipped('/proc is not readable')
    if (cgroups?.mode !== 'v2') return skipped('cgroup v1 has neither memory.min nor memory.high')
    const memoryCapacity = bytes(machine.memoryBytes)
    const { evictionHard } = kubelet.loaded.config.kubelet
    const evictionThreshold = parseEvictionThreshold(evictionHard['memory.available'], memoryCapacity)
    const nameOf = createNamer(facts)
    const roots = cgroups.pods.filter((c) => Object.values(cgroups.podTrees).includes(c.path))
    const conflicts = evictionConflicts({
      memoryCapacity,
      evictionThreshold,
      protectedBytes: roots.reduce((sum, c) => sum + c.min, 0n),
      highs: cgroups.pods.flatMap((c) =>
        c.containerId === undefined || c.high === 'max' ? [] : [{ name: nameOf(c), high: c.high }],
      ),
    })
    return conflicts.length === 0
      ? ok(`eviction begins below ${formatAmount(evictionThreshold)} of available memory`)
      : conflicts.map(({ message, remedy }) => warn(message, remedy))
  },
}
