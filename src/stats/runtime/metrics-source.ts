// Takes the runtime's metrics: descriptors are kept until a name is missing or the runtime came back.

import { keelsonError } from '../../core/errors.js'
import type { MetricsSample } from '../sample.js'
import type { RuntimeCalls } from './calls.js'
import { type Descriptors, describeAll } from './descriptors.js'
import { type CriMetrics, type CriMetricsInput, joinCriMetrics } from './metrics.js'

export interface CriMetricsSource {
  take(signal: AbortSignal): Promise<MetricsSample>
  forget(): void
}

type Rest = Omit<CriMetricsInput, 'metrics' | 'descriptors' | 'receivedNanos'>

export interface CriMetricsSourceOptions {
  readonly calls: Pick<RuntimeCalls, 'descriptors' | 'podMetrics'>
  readonly nowNanos: () => bigint
  /** What is joined, as it is after the runtime has answered. */
  rest(signal: AbortSignal): Promise<Rest>
  readonly onLosses: (losses: CriMetrics['losses']) => void
}

/** Without these two there is nothing that a consumer could use: such a runtime has its metrics switched off. */
const essential = ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']

export function createCriMetricsSource(o: CriMetricsSourceOptions): CriMetricsSource {
  let descriptors: Descriptors | undefined

  async function describe(signal: AbortSignal): Promise<Descriptors> {
    const all = describeAll(await o.calls.descriptors(signal))
    const lacking = essential.filter((name) => !all.has(name))
    if (lacking.length > 0)
      throw keelsonError(
        'runtime.unimplemented',
        `call ListMetricDescriptors: the runtime declares no ${lacking.join(' and no ')}; switch its pod metrics on`,
      )
    return all
  }

  return {
    async take(signal) {
      descriptors ??= await describe(signal)
      const metrics = await o.calls.podMetrics(signal)
      const receivedNanos = o.nowNanos()
      const rest = await o.rest(signal)
      let joined = joinCriMetrics({ ...rest, metrics, descriptors, receivedNanos })
      // The runtime was changed since it declared its metrics.
      if (joined.losses.undeclared > 0) {
        descriptors = await describe(signal)
        joined = joinCriMetrics({ ...rest, metrics, descriptors, receivedNanos })
      }
      const { sample, losses } = joined
      o.onLosses(losses)
      const running = rest.inventory.pods.reduce((n, pod) => n + pod.containers.length, 0)
      if (running > 0 && sample.missing === running)
        throw keelsonError(
          'runtime.failed',
          `call ListPodSandboxMetrics: the answer has nothing of ${running} running containers`,
        )
      return sample
    },
    forget() {
      descriptors = undefined
    },
  }
}
