// The two numbers called allocatable: the one in formulas and on kubepods, and the one in the node's status.

import { keelsonError } from '../errors.js'
import { type Bytes, bytes } from '../units/bytes.js'
import type { Problem } from '../units/problem.js'
import { formatQuantity, parseQuantity, quantityOfBytes, quantityValue } from '../units/quantity.js'
import { memoryOf, type ResourceList } from '../units/resource-list.js'

export const defaultMemoryEviction = '100Mi'

export interface AllocatableInput {
  readonly memoryCapacity: Bytes
  readonly kubeReserved: ResourceList
  readonly systemReserved: ResourceList
  /** Hard eviction threshold `memory.available`: a quantity or a percentage; undefined: none. */
  readonly memoryEviction: string | undefined
  /** Memory set aside for huge pages at boot. */
  readonly hugePages?: Bytes
}

export interface Allocatable {
  /** Stands in for a missing limit, and is memory.max of kubepods. */
  readonly forFormula: Bytes
  /** What the node reports to the scheduler. */
  readonly nodeStatus: Bytes
  readonly eviction: Bytes
}

export function allocatableMemory(i: AllocatableInput): Allocatable {
  const eviction = parseEvictionThreshold(i.memoryEviction, i.memoryCapacity)
  const forFormula = i.memoryCapacity - memoryOf(i.kubeReserved) - memoryOf(i.systemReserved)
  return {
    forFormula: atLeastZero(forFormula),
    nodeStatus: atLeastZero(forFormula - eviction - (i.hugePages ?? 0n)),
    eviction,
  }
}

const atLeastZero = (n: bigint): Bytes => bytes(n > 0n ? n : 0n)

/** `5%` of the capacity, or an amount; `0%` and `100%` switch the threshold off. */
export function parseEvictionThreshold(text: string | undefined, capacity: Bytes): Bytes {
  if (text === undefined) return bytes(0n)
  const given = text.trim()
  if (given.endsWith('%')) return percentOf(given, capacity)
  const amount = parseQuantity(given)
  if (amount.nanos < 0n) throw invalidThreshold(text, 'is negative')
  return bytes(quantityValue(amount))
}

function percentOf(text: string, capacity: Bytes): Bytes {
  const digits = text.slice(0, -1)
  if (!/^[0-9]+(\.[0-9]*)?$|^\.[0-9]+$/.test(digits)) throw invalidThreshold(text, 'is not a percentage')
  const percent = Number(digits)
  if (percent > 100) throw invalidThreshold(text, 'is above 100%')
  if (percent === 0 || percent === 100) return bytes(0n)
  // Upstream keeps the fraction in 32 bits and multiplies in 64.
  return bytes(BigInt(Math.trunc(Number(capacity) * Math.fround(percent / 100))))
}

const invalidThreshold = (text: string, what: string) =>
  keelsonError(
    'config.invalid',
    `evictionHard memory.available ${JSON.stringify(text.slice(0, 64))} ${what}; write for example 100Mi or 5%`,
    { path: 'evictionHard', text: text.slice(0, 64) },
  )

/** A node that reserves more than it has cannot start. */
export function checkReservations(i: AllocatableInput): readonly Problem[] {
  const eviction = parseEvictionThreshold(i.memoryEviction, i.memoryCapacity)
  const reserved = memoryOf(i.kubeReserved) + memoryOf(i.systemReserved) + eviction
  if (reserved <= i.memoryCapacity) return []
  const shown = (n: bigint) => formatQuantity(quantityOfBytes(n))
  return [
    {
      path: 'kubeReserved',
      message:
        `kubeReserved, systemReserved and evictionHard reserve ${shown(reserved)} of memory, ` +
        `the node has ${shown(i.memoryCapacity)}`,
      remedy: 'lower kubeReserved.memory, systemReserved.memory or evictionHard["memory.available"]',
    },
  ]
}
