// Memory QoS and eviction on one node: what memory.min keeps from being reclaimed and where memory.high begins to slow a container
// down must leave the eviction threshold room, or one of the two never acts.
import type { Bytes } from '../units/bytes.js'
import { formatQuantity, quantityOfBytes } from '../units/quantity.js'

interface MemorySettings {
  readonly memoryCapacity: Bytes
  /** Hard threshold of memory.available in bytes; 0: none. */
  readonly evictionThreshold: Bytes
  /** memory.min of all pods together. */
  readonly protectedBytes: bigint
  /** Containers with a memory.high. */
  readonly highs: readonly { readonly name: string; readonly high: bigint }[]
}

interface MemoryConflict {
  readonly message: string
  readonly remedy: string
}

const shown = (n: bigint): string => formatQuantity(quantityOfBytes(n))

export function evictionConflicts(i: MemorySettings): readonly MemoryConflict[] {
  if (i.evictionThreshold === 0n) return []
  const start = i.memoryCapacity - i.evictionThreshold
  const late = i.highs.filter(({ high }) => high >= start)
  return [
    ...(i.protectedBytes > start
      ? [
          {
            message:
              `memory.min protects ${shown(i.protectedBytes)} of pods, and eviction begins when ${shown(start)} are in use: ` +
              'pods within their requests can cause evictions that reclaim cannot prevent',
            remedy: 'lower the requests of pods or evictionHard["memory.available"], or raise systemReserved',
          },
        ]
      : []),
    ...(late.length > 0
      ? [
          {
            message:
              `memory.high of ${late.map(({ name, high }) => `${name} (${shown(high)})`).join(', ')} is above ${shown(start)}, ` +
              'where eviction begins: the container is evicted before it is throttled',
            remedy: 'give it a memory limit, or lower memoryThrottlingFactor',
          },
        ]
      : []),
  ]
}
