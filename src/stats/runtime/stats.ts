// A stats sample from the runtime's answer: only pods and containers that are listed and running, and rates from our
// own two samples.
import type { PodSandboxStats } from '../../cri-api/api.js'
import type { CpuHistory } from '../cpu-rate.js'
import { usageNanoCores } from '../cpu-rate.js'
import { repairNetwork, repairUsage } from '../repair/repair-usage.js'
import type { Repair } from '../repair/repairs.js'
import type { ContainerSample, PodSample, StatsSample } from '../sample.js'
import type { NetworkUsage, Usage } from '../usage.js'
import type { Inventory, PodInfo } from './inventory.js'
import { podUsageOf } from './usage.js'

/** The runtime's own rate may span any time, and some send 0 for "not known yet". */
function withRate(key: string, usage: Usage, history: CpuHistory): Usage {
  const { cpu } = usage
  if (cpu?.usageCoreNanoSeconds === undefined) return usage
  const now = { timeNanos: cpu.timeNanos, usageNanos: cpu.usageCoreNanoSeconds }
  const ours = usageNanoCores(history.exchange(key, now), now)
  const theirs = cpu.usageNanoCores === 0n ? undefined : cpu.usageNanoCores
  return { ...usage, cpu: { ...cpu, usageNanoCores: ours ?? theirs } }
}

/** The namespace is read only behind a runtime that is known to count another one. */
const networkOf = (
  pod: PodInfo,
  given: NetworkUsage | undefined,
  check: StatsCheck | undefined,
): NetworkUsage | undefined =>
  given === undefined || check?.repair.hasDefect('node-network-counted') !== true
    ? given
    : repairNetwork(given, check.network(pod), check.repair)

/** What the runtime's values are compared with. */
interface StatsCheck {
  readonly repair: Repair
  /** By container id, or for a pod by the id of its sandbox. */
  readonly usage: (id: string) => Usage | undefined
  readonly network: (pod: PodInfo) => NetworkUsage | undefined
}

export function criStatsSample(
  stats: readonly PodSandboxStats[],
  inventory: Inventory,
  history: CpuHistory,
  receivedNanos: bigint,
  hasHostNetwork: (pod: PodInfo) => boolean = () => false,
  check?: StatsCheck,
): StatsSample {
  const right = (id: string, usage: Usage): Usage =>
    check === undefined ? usage : repairUsage(usage, () => check.usage(id), check.repair)
  const given = new Map(
    stats.flatMap((s) => {
      const pod = podUsageOf(s, receivedNanos)
      return pod === undefined ? [] : [[pod.id, pod] as const]
    }),
  )
  let missing = 0
  const pods: PodSample[] = []
  for (const info of inventory.pods) {
    const pod = given.get(info.sandboxId)
    if (pod === undefined) {
      missing += info.containers.length
      continue
    }
    const byId = new Map(pod.containers.map((c) => [c.id, c]))
    const containers = info.containers.flatMap((about): ContainerSample[] => {
      const c = byId.get(about.id)
      if (c === undefined) return []
      return [
        { info: about, usage: withRate(c.id, right(c.id, c.usage), history), writableLayer: c.writableLayer },
      ]
    })
    missing += info.containers.length - containers.length
    pods.push({
      info,
      usage: withRate(info.sandboxId, right(info.sandboxId, pod.usage), history),
      network: hasHostNetwork(info) ? undefined : networkOf(info, pod.network, check),
      processes: pod.processes,
      containers,
    })
  }
  history.sweep()
  return { source: 'cri', timeNanos: receivedNanos, pods, missing }
}
