// KEP-2570: what is promised to pods must leave the rest of the system room to live.
import { resourceListOf } from '../../config/effective.js'
import { allocatableMemory, checkReservations } from '../../core/plan/allocatable.js'
import { bytes } from '../../core/units/bytes.js'
import { type Check, error, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'

/** Hard protection above this share leaves nothing to reclaim before the OOM killer. */
const crowdedPercent = 90n

export const capacity: Check<DoctorFacts> = {
  name: 'capacity',
  asks: 'Does the protected memory fit into the memory of the node?',
  run({ machine, cgroups, kubelet }) {
    if (machine === undefined) return skipped('/proc is not readable')
    const { kubeReserved, systemReserved, evictionHard } = kubelet.loaded.config.kubelet
    const input = {
      memoryCapacity: bytes(machine.memoryBytes),
      kubeReserved: resourceListOf(kubeReserved),
      systemReserved: resourceListOf(systemReserved),
      memoryEviction: evictionHard['memory.available'],
    }
    const [problem] = checkReservations(input)
    if (problem !== undefined) return error(problem.message, problem.remedy)
    const { forFormula } = allocatableMemory(input)
    if (cgroups?.mode !== 'v2')
      return ok(`allocatable ${formatAmount(forFormula)}; cgroup v1 has no memory protection`)
    const roots = cgroups.pods.filter((c) => Object.values(cgroups.podTrees).includes(c.path))
    const promised = roots.reduce((sum, c) => sum + c.min, 0n)
    const total = cgroups.topLevel.reduce((sum, c) => sum + c.min, 0n)
    const evidence = [
      `memory of the node: ${formatAmount(machine.memoryBytes)}, allocatable ${formatAmount(forFormula)}`,
      ...cgroups.topLevel.filter((c) => c.min > 0n).map((c) => `${c.path} memory.min=${formatAmount(c.min)}`),
    ]
    if (promised > forFormula)
      return error(
        'the memory requests of pods exceed allocatable memory',
        'lower the requests of pods on this node, or kubeReserved and systemReserved',
        evidence,
      )
    if (total * 100n > machine.memoryBytes * crowdedPercent)
      return warn(
        `more than ${crowdedPercent} % of the node's memory is protected from reclaim`,
        'raise systemReserved, or use TieredReservation, which gives Burstable pods soft protection (memory.low)',
        evidence,
      )
    return total > 0n && roots.length === 0
      ? info('memory is protected outside the pod cgroups', evidence)
      : ok(...evidence)
  },
}
