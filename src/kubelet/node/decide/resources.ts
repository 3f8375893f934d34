// Capacity and allocatable of the Node: what the machine has, and what of it is left for pods.
import { parseEvictionThreshold } from '../../../core/plan/allocatable.js'
import { bytes } from '../../../core/units/bytes.js'
import {
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityOfBytes,
  quantityValue,
  subtractQuantity,
} from '../../../core/units/quantity.js'
import type { ResourceList } from '../../../core/units/resource-list.js'

interface HugePages {
  readonly pageBytes: bigint
  readonly pages: bigint
}

export interface MachineResources {
  readonly cpus: number
  readonly memoryBytes: bigint
  readonly hugePages: readonly HugePages[]
  /** Of the file system of the kubelet's root directory; undefined: not known. */
  readonly rootFsBytes: bigint | undefined
  readonly maxPods: number
  readonly podsPerCore: number
}

export interface Reservations {
  readonly kubeReserved: ResourceList
  readonly systemReserved: ResourceList
  /** evictionHard */
  readonly eviction: Readonly<Record<string, string>>
}

type Amounts = Readonly<Record<string, string>>

const count = (n: number | bigint): Quantity => ({ nanos: BigInt(n) * 1_000_000_000n, format: 'DecimalSI' })

/** Keys of others, such as extended resources that were patched in, stay. */
export function decideCapacity(m: MachineResources, before: Amounts = {}): Amounts {
  const pods = m.podsPerCore > 0 ? Math.min(m.cpus * m.podsPerCore, m.maxPods) : m.maxPods
  const own: Record<string, Quantity> = {
    cpu: count(m.cpus),
    memory: quantityOfBytes(m.memoryBytes),
    pods: count(pods),
    ...(m.rootFsBytes === undefined ? {} : { 'ephemeral-storage': count(m.rootFsBytes) }),
  }
  for (const { pageBytes, pages } of m.hugePages)
    own[hugePagesName(pageBytes)] = quantityOfBytes(pageBytes * pages)
  const kept = Object.entries(before).filter(([name]) => !(name in own) && !isHugePages(name))
  return Object.fromEntries([...kept, ...Object.entries(own).map(([name, q]) => [name, formatQuantity(q)])])
}

/** 2 MiB -> `hugepages-2Mi` */
const hugePagesName = (pageBytes: bigint): string => `hugepages-${formatQuantity(quantityOfBytes(pageBytes))}`

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

export function decideAllocatable(capacity: Amounts, r: Reservations): Amounts {
  const amounts = new Map(Object.entries(capacity).map(([name, text]) => [name, parseQuantity(text)]))
  const evicted = evictionReserve(r.eviction, amounts)
  const left = new Map<string, Quantity>()
  for (const [name, amount] of amounts) {
    const reserved = [r.systemReserved.get(name), r.kubeReserved.get(name), evicted.get(name)]
    left.set(
      name,
      atLeastZero(
        reserved.reduce<Quantity>((rest, q) => (q === undefined ? rest : subtractQuantity(rest, q)), amount),
      ),
    )
  }
  for (const [name, amount] of amounts) {
    const memory = left.get('memory')
    if (isHugePages(name) && memory !== undefined)
      left.set('memory', atLeastZero(subtractQuantity(memory, amount)))
  }
  return Object.fromEntries([...left].map(([name, q]) => [name, formatQuantity(q)]))
}

const atLeastZero = (q: Quantity): Quantity => (q.nanos < 0n ? { ...q, nanos: 0n } : q)

const signals: readonly (readonly [signal: string, resource: string])[] = [
  ['memory.available', 'memory'],
  ['nodefs.available', 'ephemeral-storage'],
]

function evictionReserve(
  eviction: Readonly<Record<string, string>>,
  capacity: ReadonlyMap<string, Quantity>,
): ReadonlyMap<string, Quantity> {
  return new Map(
    signals.flatMap(([signal, resource]) => {
      const whole = capacity.get(resource)
      if (whole === undefined) return []
      return [
        [
          resource,
          quantityOfBytes(parseEvictionThreshold(eviction[signal], bytes(quantityValue(whole)))),
        ] as const,
      ]
    }),
  )
}
