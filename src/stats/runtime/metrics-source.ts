// Reads the runtime's metrics. Descriptors are cached until a metric is undeclared or the runtime was restarted.
import { keelsonError } from '../../core/errors.js'
import type { MetricsSample } from '../sample.js'
import type { RuntimeCalls } from './calls.js'
import { type Descriptors, describeAll } from './descriptors.js'
import { rejectEmptySample } from './feed.js'
import { type DroppedMetrics, joinCriMetrics } from './metrics.js'
import type { CriMetricsInput } from './metrics-subjects.js'

interface CriMetricsSource {
  read(signal: AbortSignal): Promise<MetricsSample>
  /** The runtime was restarted: its descriptors are asked for again. */
  forget(): void
}

/** What the runtime's metrics are joined with. */
type JoinContext = Omit<CriMetricsInput, 'metrics' | 'descriptors' | 'receivedNanos'>

interface CriMetricsSourceOptions {
  readonly calls: Pick<RuntimeCalls, 'descriptors' | 'podMetrics'>
  readonly nowNanos: () => bigint
  /** Called once the runtime has answered. */
  joinContext(signal: AbortSignal): Promise<JoinContext>
  readonly onDropped: (dropped: DroppedMetrics) => void
}

/** Without these two a consumer can do nothing: such a runtime has its metrics switched off. */
const essential = ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes']

export function createCriMetricsSource(o: CriMetricsSourceOptions): CriMetricsSource {
  let descriptors: Descriptors | undefined

  async function describe(signal: AbortSignal): Promise<Descriptors> {
    const all = describeAll(await o.calls.descriptors(signal))
    const missing = essential.filter((name) => !all.has(name))
    if (missing.length > 0)
      throw keelsonError(
        'runtime.unimplemented',
        `call ListMetricDescriptors: the runtime declares no ${missing.join(' and no ')}; enable its pod metrics`,
      )
    return all
  }

  return {
    async read(signal) {
      descriptors ??= await describe(signal)
      const metrics = await o.calls.podMetrics(signal)
      const receivedNanos = o.nowNanos()
      const context = await o.joinContext(signal)
      let joined = await joinCriMetrics({ ...context, metrics, descriptors, receivedNanos })
      // The runtime was changed since it declared its metrics.
      if (joined.dropped.undeclared > 0) {
        descriptors = await describe(signal)
        joined = await joinCriMetrics({ ...context, metrics, descriptors, receivedNanos })
      }
      o.onDropped(joined.dropped)
      rejectEmptySample('ListPodSandboxMetrics', context.inventory, joined.sample)
      return joined.sample
    },
    forget() {
      descriptors = undefined
    },
  }
}
