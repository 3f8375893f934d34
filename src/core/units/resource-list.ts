// Lists of resource amounts by name ("memory", "cpu", "hugepages-2Mi") and the arithmetic of whole lists.
import { type Bytes, bytes } from './bytes.js'
import { addQuantity, compareQuantity, type Quantity, quantityMilliValue, quantityValue } from './quantity.js'

export type ResourceList = ReadonlyMap<string, Quantity>

export interface ResourceRequirements {
  readonly requests: ResourceList
  readonly limits: ResourceList
}

export const noResources: ResourceList = new Map()
export const noRequirements: ResourceRequirements = { requests: noResources, limits: noResources }

export function addResources(a: ResourceList, b: ResourceList): ResourceList {
  if (b.size === 0) return a
  const sum = new Map(a)
  for (const [name, amount] of b) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : addQuantity(before, amount))
  }
  return sum
}

export function maxResources(a: ResourceList, b: ResourceList): ResourceList {
  if (b.size === 0) return a
  const most = new Map(a)
  for (const [name, amount] of b) {
    const before = most.get(name)
    if (before === undefined || compareQuantity(amount, before) > 0) most.set(name, amount)
  }
  return most
}

/** `fallback` gives what `list` does not name. */
export function fillResources(list: ResourceList, fallback: ResourceList): ResourceList {
  return new Map([...fallback, ...list])
}

/** Missing counts as 0, as everywhere in Kubernetes. */
export function memoryOf(list: ResourceList): Bytes {
  const amount = list.get('memory')
  return amount === undefined ? bytes(0n) : bytes(quantityValue(amount))
}

export function milliCpuOf(list: ResourceList): bigint {
  const amount = list.get('cpu')
  return amount === undefined ? 0n : quantityMilliValue(amount)
}

/** Only these may be set for a pod as a whole. */
export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
