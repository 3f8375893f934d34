// The runtime's own values, for pods whose cgroups cannot be read: in a virtual machine, or on another machine's socket.
// Asked for only while some pod needs it, and not more often than a runtime can bear.
import type { LivePod, LiveValues } from '../../core/dashboard/model.js'
import { messageOf } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import { createCpuHistory, usageNanoCores } from '../../stats/cpu-rate.js'
import type { RuntimeCalls } from '../../stats/runtime/calls.js'
import { type CriPodUsage, containerUsageOf, podUsageOf } from '../../stats/runtime/usage.js'
import type { CpuUsage, NetworkUsage, Usage } from '../../stats/usage.js'
import { perSecond, valuesOfUsage } from './dashboard-values.js'

interface CriPodValues {
  readonly values: LiveValues
  readonly network: LivePod['network']
}

export interface CriValues {
  pod(sandboxId: string): CriPodValues | undefined
  container(id: string): LiveValues | undefined
}

interface CriValuesCache extends CriValues {
  /** The last problem of the runtime with it, in words. */
  readonly problem: string | undefined
  refresh(signal: AbortSignal): Promise<void>
}

/** A runtime may take seconds for all pods. */
const leastMs = 5_000

export function createCriValues(
  calls: Pick<RuntimeCalls, 'podStats' | 'containerStats'>,
  clock: Clock,
): CriValuesCache {
  const history = createCpuHistory()
  let pods = new Map<string, CriPodValues>()
  let containers = new Map<string, LiveValues>()
  let networks = new Map<string, NetworkUsage>()
  let askedAt: bigint | undefined
  let problem: string | undefined

  const cores = (key: string, cpu: CpuUsage | undefined): bigint | undefined => {
    if (cpu?.usageCoreNanoSeconds === undefined) return cpu?.usageNanoCores
    const now = { timeNanos: cpu.timeNanos, usageNanos: cpu.usageCoreNanoSeconds }
    return usageNanoCores(history.exchange(key, now), now) ?? cpu.usageNanoCores
  }
  const shown = (key: string, usage: Usage): LiveValues => valuesOfUsage(usage, cores(key, usage.cpu))

  function takePods(all: readonly CriPodUsage[]): void {
    const before = networks
    networks = new Map()
    pods = new Map()
    for (const pod of all) {
      if (pod.network !== undefined) networks.set(pod.id, pod.network)
      pods.set(pod.id, {
        values: shown(pod.id, pod.usage),
        network: networkRates(pod.network, before.get(pod.id)),
      })
    }
    containers = new Map(all.flatMap((p) => p.containers.map((c) => [c.id, shown(c.id, c.usage)] as const)))
  }

  return {
    get problem() {
      return problem
    },
    pod: (id) => pods.get(id),
    container: (id) => containers.get(id),
    async refresh(signal) {
      const now = clock.monotonicNanos()
      if (askedAt !== undefined && now - askedAt < BigInt(leastMs) * 1_000_000n) return
      askedAt = now
      try {
        const received = clock.nowNanos()
        const stats = await calls.podStats(signal)
        takePods(stats.map((s) => podUsageOf(s, received)).filter((p) => p !== undefined))
        problem = undefined
      } catch (e) {
        signal.throwIfAborted()
        await containersOnly(signal, e)
      }
      history.sweep()
    },
  }

  /** Older runtimes have values of containers but not of pods. */
  async function containersOnly(signal: AbortSignal, first: unknown): Promise<void> {
    try {
      const received = clock.nowNanos()
      const stats = (await calls.containerStats(signal)).map((s) => containerUsageOf(s, received))
      containers = new Map(stats.map((c) => [c.id, shown(c.id, c.usage)]))
      problem = undefined
    } catch {
      signal.throwIfAborted()
      problem = messageOf(first)
    }
  }
}

function networkRates(now: NetworkUsage | undefined, before: NetworkUsage | undefined): LivePod['network'] {
  const [a, b] = [before?.defaultInterface, now?.defaultInterface]
  if (now === undefined || before === undefined || b?.rxBytes === undefined || b.txBytes === undefined)
    return null
  const elapsed = now.timeNanos - before.timeNanos
  const rx = perSecond(a?.rxBytes, b.rxBytes, elapsed)
  const tx = perSecond(a?.txBytes, b.txBytes, elapsed)
  return rx === undefined || tx === undefined
    ? null
    : { rxPerSecond: Math.round(rx), txPerSecond: Math.round(tx) }
}
