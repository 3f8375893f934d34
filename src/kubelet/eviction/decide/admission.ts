// Which pods a node under pressure still takes: critical ones always; under memory pressure alone also those that ask for
// memory, and those that tolerate the taint.
import { isCriticalPod, type PodResources } from '../../../core/pod/pod.js'
import { qosClassOf } from '../../../core/pod/qos-class.js'
import type { Pressure } from '../../node/decide/conditions.js'

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

const conditionNames = { memory: 'MemoryPressure', disk: 'DiskPressure', pid: 'PIDPressure' } as const
const memoryTaint = 'node.kubernetes.io/memory-pressure'

/** Undefined: the pod is taken. */
export function rejectedUnderPressure(
  pod: PodResources,
  tolerations: readonly Toleration[],
  pressure: Pressure,
): { readonly reason: string; readonly message: string } | undefined {
  const present = (['memory', 'disk', 'pid'] as const).filter((name) => pressure[name])
  if (present.length === 0 || isCriticalPod(pod)) return undefined
  const onlyMemory = present.length === 1 && pressure.memory
  if (onlyMemory && (qosClassOf(pod) !== 'BestEffort' || tolerations.some(toleratesMemoryPressure)))
    return undefined
  const names = present.map((name) => conditionNames[name]).join(' ')
  return { reason: 'Evicted', message: `The node had condition: [${names}]. ` }
}

/** The taint has no value and the effect NoSchedule. */
function toleratesMemoryPressure({ key = '', operator = '', value = '', effect = '' }: Toleration): boolean {
  if (effect !== '' && effect !== 'NoSchedule') return false
  if (key !== '' && key !== memoryTaint) return false
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && key !== '' && value === '')
}
