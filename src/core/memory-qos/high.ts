// memory.high of a container and of a pod with pod-level resources (KEP-2570), in both formula generations.

import { notWritten, type PlannedValue, value } from '../plan/planned-value.js'
import type { QosClass } from '../pod/pod.js'
import { type Bytes, bytes, floorToPage } from '../units/bytes.js'
import { type FormulaGeneration, type MemoryQosSettings, whyMemoryQosIsOff } from './settings.js'

export interface MemoryHighInput {
  readonly generation: FormulaGeneration
  readonly factor: number
  readonly request: Bytes
  /** The limit, or what stands in for a missing one. */
  readonly ceiling: Bytes
  readonly pageSize: bigint
}

/** The bare formula; whether its result may be written is decided below. */
export function memoryHighFormula(i: MemoryHighInput): Bytes {
  const request = Number(i.request)
  const ceiling = Number(i.ceiling)
  // Doubles in upstream's order: exact arithmetic would land on another page now and then.
  if (i.generation === '1.22') return wholeBytes(i.factor * ceiling)
  return floorToPage(wholeBytes(request + (ceiling - request) * i.factor), i.pageSize)
}

const wholeBytes = (n: number): Bytes => bytes(n > 0 ? BigInt(Math.trunc(n)) : 0n)

function formatFormula(i: MemoryHighInput, high: Bytes): string {
  if (i.generation === '1.22') return `trunc(${i.factor} x ${i.ceiling}) = ${high}`
  const raw = `${i.request} + ${i.factor} x (${i.ceiling} - ${i.request})`
  return `floor((${raw}) / ${i.pageSize}) x ${i.pageSize} = ${high}`
}

export interface ContainerHighInput {
  readonly settings: MemoryQosSettings
  readonly qosClass: QosClass
  readonly request: Bytes
  /** 0: none. Raised by device claims only where a limit exists. */
  readonly limit: Bytes
  readonly podLevelLimit: Bytes
  /** Allocatable memory of the node, 0: unknown. */
  readonly allocatable: Bytes
  readonly pageSize: bigint
}

export function containerMemoryHigh(i: ContainerHighInput): PlannedValue<Bytes> {
  const off = whyMemoryQosIsOff(i.settings)
  if (off !== undefined) return notWritten(off.code, off.reason)
  if (i.settings.factor === undefined) return notWritten('factor-unset', 'memoryThrottlingFactor is not set')
  // By class, not by request = limit: a debug container has neither and must not be throttled here.
  if (i.qosClass === 'Guaranteed') return notWritten('pod-guaranteed', 'the pod is Guaranteed')
  if (i.limit === 0n && i.podLevelLimit > 0n) {
    return notWritten(
      'pod-level-limit',
      'the container has no limit of its own and the pod has one: the pod cgroup throttles instead',
    )
  }
  if (i.limit === 0n && i.allocatable === 0n) {
    return notWritten(
      'allocatable-unknown',
      'the container has no limit and the allocatable memory of the node is unknown',
    )
  }
  return decideHigh(i, i.settings.factor, i.limit > 0n ? i.limit : i.allocatable)
}

export interface PodHighInput extends Omit<ContainerHighInput, 'podLevelLimit' | 'allocatable'> {
  readonly hasPodLevelResources: boolean
  readonly hasEveryMemoryLimit: boolean
}

/** Without pod-level resources one greedy container would throttle its neighbours, so there is none. */
export function podMemoryHigh(i: PodHighInput): PlannedValue<Bytes> {
  const off = whyMemoryQosIsOff(i.settings)
  if (off !== undefined) return notWritten(off.code, off.reason)
  if (!i.hasPodLevelResources) {
    return notWritten(
      'no-pod-level-resources',
      'memory.high belongs to containers; a pod has it only with pod-level resources',
    )
  }
  if (i.settings.generation === '1.22') {
    return notWritten('generation-without-pod-level', 'the formula of 1.22 knows containers only')
  }
  if (i.settings.factor === undefined) return notWritten('factor-unset', 'memoryThrottlingFactor is not set')
  if (i.qosClass === 'Guaranteed') return notWritten('pod-guaranteed', 'the pod is Guaranteed')
  if (!i.hasEveryMemoryLimit || i.limit === 0n) {
    return notWritten('limits-incomplete', 'neither the pod nor each of its containers has a memory limit')
  }
  return decideHigh(i, i.settings.factor, i.limit)
}

function decideHigh(
  i: Pick<ContainerHighInput, 'settings' | 'request' | 'limit' | 'pageSize'>,
  factor: number,
  ceiling: Bytes,
): PlannedValue<Bytes> {
  if (i.request === i.limit && i.request > 0n) {
    return notWritten('request-equals-limit', `the memory request equals the limit (${i.limit})`)
  }
  const { generation } = i.settings
  const input: MemoryHighInput = { generation, factor, request: i.request, ceiling, pageSize: i.pageSize }
  const high = memoryHighFormula(input)
  const formula = formatFormula(input, high)
  if (high <= i.request) {
    return notWritten('not-above-request', `the result is not above the memory request ${i.request}`, formula)
  }
  // Only with a factor above 1, a request above its limit, or doubles that round up beyond 2^53.
  if (high > ceiling) return notWritten('above-limit', `the result is above ${ceiling}`, formula)
  const upTo = i.limit > 0n ? 'the limit' : 'allocatable memory, for want of a limit'
  return value(high, 'formula', `throttling starts between the memory request and ${upTo}`, formula)
}
