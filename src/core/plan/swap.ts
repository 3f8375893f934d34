// memory.swap.max of a container: nothing may be swapped, or a share of the swap space by request (KEP-2400).

import type { QosClass } from '../pod/pod.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'

export type SwapBehavior = 'NoSwap' | 'LimitedSwap'

export interface SwapInput {
  readonly behavior: SwapBehavior
  readonly cgroupVersion: 1 | 2
  readonly qosClass: QosClass
  readonly isCriticalPod: boolean
  readonly request: Bytes
  /** 0: none. */
  readonly limit: Bytes
  readonly memoryCapacity: Bytes | undefined
  /** Undefined: unknown. */
  readonly swapCapacity: Bytes | undefined
}

export function memorySwapMax(i: SwapInput): PlannedValue<Bytes> {
  if (i.cgroupVersion === 1) return notWritten('cgroup-v1', 'memory.swap.max is a file of cgroup v2')
  const noSwap = (code: 'swap-disabled' | 'swap-not-allowed', reason: string) =>
    value(bytes(0n), code, reason)
  if (i.behavior === 'NoSwap') return noSwap('swap-disabled', 'swapBehavior is NoSwap')
  if (i.qosClass !== 'Burstable') return noSwap('swap-not-allowed', `the pod is ${i.qosClass}, not Burstable`)
  if (i.isCriticalPod) return noSwap('swap-not-allowed', 'the pod is critical')
  if (i.request === 0n) return noSwap('swap-not-allowed', 'the container requests no memory')
  if (i.limit > 0n && i.request >= i.limit) {
    return noSwap('swap-not-allowed', 'the memory request is not below the limit')
  }
  if (i.memoryCapacity === undefined || i.memoryCapacity === 0n) {
    return notWritten('capacity-unknown', 'the memory capacity of the node is unknown')
  }
  if (i.swapCapacity === undefined)
    return notWritten('capacity-unknown', 'the swap space of the node is unknown')
  // Doubles, as upstream: the share first, then the amount.
  const share = (Number(i.request) / Number(i.memoryCapacity)) * Number(i.swapCapacity)
  const amount = bytes(BigInt(Math.trunc(share)))
  return value(
    amount,
    'swap-share',
    'the share of swap that the memory request has of the node',
    `trunc(${i.request} / ${i.memoryCapacity} x ${i.swapCapacity}) = ${amount}`,
  )
}
