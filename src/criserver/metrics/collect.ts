// The metrics of all pods, from whichever of runtime and kernel has to be asked.
import type { PodSandboxMetrics } from '../../cri-api/api.js'
import { repairOf } from '../methods/completing.js'
import type { Services } from '../services.js'
import type { CollectedMetrics } from './source.js'

/** `ask`: for the runtime's own; undefined: it has none. */
export async function collectMetrics(
  ask: () => Promise<readonly PodSandboxMetrics[] | undefined>,
  services: Services,
  signal: AbortSignal,
): Promise<CollectedMetrics> {
  const { metricsSource } = services
  const repair = await repairOf(services, signal)
  if (services.repairs.mode === 'kernel') {
    const collected = await metricsSource.collect(undefined, repair, signal).catch(() => undefined)
    if (collected?.hasOpaque === false) return collected
  }
  return await metricsSource.collect(await ask(), repair, signal)
}
