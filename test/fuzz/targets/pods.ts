// Pods: untyped objects with broken parts, through reading, defaulting, classification and every value.

import { planNode } from '../../../src/core/plan/node-plan.js'
import { plannedValue } from '../../../src/core/plan/planned-value.js'
import { type PodPlanInput, planPod } from '../../../src/core/plan/pod-plan.js'
import { applyPodDefaults } from '../../../src/core/pod/defaults.js'
import { parsePod } from '../../../src/core/pod/parse-pod.js'
import { bytes } from '../../../src/core/units/bytes.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const amounts = [
  '0',
  '1',
  '100m',
  '128Mi',
  '256Mi',
  '1Gi',
  '1.5Gi',
  '8Ei',
  '1500m',
  '2',
  '-1',
  '10E',
  '1e3',
] as const
const names = ['memory', 'cpu', 'hugepages-2Mi', 'example.com/gpu', '__proto__'] as const
const oddValues = [null, undefined, 0, -1, 1.5, Number.NaN, true, '', 'x', [], {}, [[]], 10n ** 30n] as const

const odd = (random: Random): unknown => oddValues[random.below(oddValues.length)]

/** Mostly what belongs there, now and then something else. */
const or = (random: Random, make: () => unknown): unknown => (random.chance(1) ? odd(random) : make())

function list(random: Random): unknown {
  const entries: [string, unknown][] = []
  for (let n = random.below(3); n > 0; n -= 1) {
    const amount = random.pick(amounts)
    entries.push([
      random.pick(names),
      or(random, () => (random.chance(3) ? mutateText(amount, random) : amount)),
    ])
  }
  return Object.fromEntries(entries)
}

const requirements = (random: Random): unknown =>
  or(random, () => ({ requests: or(random, () => list(random)), limits: or(random, () => list(random)) }))

function containers(random: Random, prefix: string): unknown {
  const result: unknown[] = []
  for (let n = random.below(3); n > 0; n -= 1) {
    const restartPolicy = random.pick([undefined, 'Always', 'Never'])
    result.push(
      or(random, () => ({
        name: or(random, () => `${prefix}${n}`),
        resources: requirements(random),
        ...(restartPolicy === undefined ? {} : { restartPolicy }),
      })),
    )
  }
  return result
}

function pod(random: Random): unknown {
  return or(random, () => ({
    metadata: or(random, () => ({ name: 'p', uid: or(random, () => '1-2'), annotations: {} })),
    spec: or(random, () => ({
      containers: or(random, () => containers(random, 'c')),
      initContainers: or(random, () => containers(random, 'i')),
      ephemeralContainers: or(random, () => containers(random, 'e')),
      overhead: random.chance(20) ? list(random) : undefined,
      resources: random.chance(20) ? requirements(random) : undefined,
      priority: or(random, () => random.below(2 ** 31)),
    })),
    status: or(random, () => ({ phase: random.pick(['Running', 'Failed', '']) })),
  }))
}

const node: Omit<PodPlanInput, 'pod'> = {
  memoryQos: {
    enabled: true,
    cgroupVersion: 2,
    generation: '1.27',
    factor: 0.9,
    policy: 'TieredReservation',
  },
  allocatableMemory: bytes(2n ** 33n),
  memoryCapacity: bytes(2n ** 34n),
  pageSize: 4096n,
  cpuQuota: { enforced: true, periodUs: 100_000n },
  swap: { behavior: 'LimitedSwap', capacity: bytes(2n ** 32n) },
  singleProcessOOMKill: false,
  runtimeWeightCurve: 'log-quadratic',
}

export const pods: FuzzTarget = {
  name: 'pods',
  generate: pod,
  run(input) {
    const read = applyPodDefaults(parsePod(input))
    const plan = planPod({ ...node, pod: read })
    for (const { name, files } of plan.containers) {
      const high = plannedValue(files['memory.high'])
      const max = plannedValue(files['memory.max'])
      check(
        high === undefined || max === undefined || high <= max,
        `${name}: memory.high is above memory.max`,
      )
      check(plan.qosClass !== 'Guaranteed' || high === undefined, `${name}: throttled in a Guaranteed pod`)
    }
    const { sums } = planNode({
      pods: [read],
      memoryQos: node.memoryQos,
      cgroupsPerQOS: true,
      enforcesPods: true,
      memoryCapacity: bytes(2n ** 34n),
      allocatableMemory: node.allocatableMemory,
    })
    check(sums.guaranteed === 0n || sums.burstable === 0n, 'one pod counts in two classes')
  },
}
