// What is said of containers that wait out a back-off.
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodEvent } from '../../events/pod-events.js'
import type { Waiting } from './actions.js'

/** For each container that waits out a back-off, at each turn that finds it so. */
export function backOffEvents(
  spec: PodSpec | undefined,
  waiting: ReadonlyMap<string, Waiting>,
): readonly PodEvent[] {
  if (spec === undefined) return []
  const { name, namespace, uid } = spec.pod
  return allContainerSpecs(spec)
    .filter((container) => waiting.get(container.name)?.reason === 'CrashLoopBackOff')
    .map((container) => ({
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
      container,
    }))
}
