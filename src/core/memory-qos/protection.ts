// memory.min and memory.low of containers and pods by reservation policy. Zeros are written out, because
// leaving a key out does not clear an old value.

import { notWritten, type PlannedValue, value } from '../plan/planned-value.js'
import type { QosClass } from '../pod/pod.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { type MemoryQosSettings, whyMemoryQosIsOff } from './settings.js'

export interface Protection {
  readonly 'memory.min': PlannedValue<Bytes>
  readonly 'memory.low': PlannedValue<Bytes>
}

const none = bytes(0n)

/** `whose` names the owner of the request in the sentences: "container" or "pod". */
export function memoryProtection(
  settings: MemoryQosSettings,
  qosClass: QosClass,
  request: Bytes,
  whose: 'container' | 'pod',
): Protection {
  const off = whyMemoryQosIsOff(settings)
  if (off !== undefined) return both(notWritten(off.code, off.reason))
  if (settings.policy === 'None') return both(value(none, 'policy-none', 'memoryReservationPolicy is None'))
  if (request === 0n) return both(value(none, 'no-request', `the ${whose} requests no memory`))
  const hard = settings.policy === 'HardReservation' || qosClass === 'Guaranteed'
  const formula = `memory request = ${request}`
  const because = `${settings.policy} protects the memory request of a ${qosClass} ${whose === 'pod' ? 'pod' : "pod's container"}`
  const protects = value(request, 'request', because, formula)
  return hard
    ? { 'memory.min': protects, 'memory.low': value(none, 'other-file-protects', 'memory.min protects') }
    : { 'memory.min': value(none, 'other-file-protects', 'memory.low protects'), 'memory.low': protects }
}

const both = (outcome: PlannedValue<Bytes>): Protection => ({ 'memory.min': outcome, 'memory.low': outcome })
