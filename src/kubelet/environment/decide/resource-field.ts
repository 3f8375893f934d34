// resourceFieldRef: an amount of a container, divided and rounded up. A limit that is not set is the pod's, or else all that
// the node can give.
import { allContainers, type PodResources, resourcesOf } from '../../../core/pod/pod.js'
import type { ResourceField } from '../../../core/pod/spec/spec.js'
import {
  parseQuantity,
  type Quantity,
  quantityMilliValue,
  quantityValue,
  zeroQuantity,
} from '../../../core/units/quantity.js'
import type { ResourceList } from '../../../core/units/resource-list.js'

/** Undefined: the pod has no such container. */
export function resourceFieldValue(
  pod: PodResources,
  self: string,
  { container, resource, divisor }: ResourceField,
  allocatable: ResourceList,
): string | undefined {
  const found = allContainers(pod).find(({ name }) => name === (container ?? self))
  if (found === undefined) return undefined
  const dot = resource.indexOf('.')
  const name = resource.slice(dot + 1)
  const { limits, requests } = resourcesOf(found)
  const isLimit = resource.slice(0, dot) === 'limits'
  const own = (isLimit ? limits : requests).get(name) ?? zeroQuantity
  const amount = isLimit && own.nanos === 0n ? limitWithoutOne(pod, name, allocatable) : own
  return divided(amount, parseQuantity(divisor), name).toString()
}

/** Huge pages are never overcommitted: without a limit there are none. */
function limitWithoutOne(pod: PodResources, name: string, allocatable: ResourceList): Quantity {
  if (name.startsWith('hugepages-')) return zeroQuantity
  const podLevel = name === 'ephemeral-storage' ? undefined : pod.resources?.limits.get(name)
  return podLevel !== undefined && podLevel.nanos > 0n ? podLevel : (allocatable.get(name) ?? zeroQuantity)
}

/** cpu counts in thousandths, the rest in whole units: both sides are rounded up to these first, as upstream does. */
function divided(amount: Quantity, divisor: Quantity, name: string): bigint {
  const whole = name === 'cpu' ? quantityMilliValue : quantityValue
  const by = whole(divisor)
  return (whole(amount) + by - 1n) / by
}
