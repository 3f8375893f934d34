// Whether the requests of a pod fit beside those of the others, resource by resource, as the scheduler counts them.
import type { PodResources } from '../../../core/pod/pod.js'
import { podRequests } from '../../../core/pod/resources.js'
import { quantityMilliValue, quantityValue } from '../../../core/units/quantity.js'
import type { ResourceList } from '../../../core/units/resource-list.js'

export interface Shortage {
  readonly resource: string
  /** cpu in thousandths, like the two below. */
  readonly requested: bigint
  readonly used: bigint
  readonly capacity: bigint
}

const first = ['cpu', 'memory', 'ephemeral-storage']

/** In upstream's order: pods, cpu, memory, ephemeral storage, then the others by name. */
export function findShortages(
  pod: PodResources,
  others: readonly PodResources[],
  allocatable: ResourceList,
): readonly Shortage[] {
  const wanted = podRequests(pod)
  const rest = [...wanted.keys()].filter((name) => !first.includes(name)).sort()
  const names = [...first, ...rest].filter((name) => allocatable.has(name) || !isExtended(name))
  const shortages = names.flatMap((resource): Shortage[] => {
    const requested = amountOf(wanted, resource)
    const used = others.reduce((sum, other) => sum + requestOf(other, resource), 0n)
    const capacity = amountOf(allocatable, resource)
    return requested > 0n && requested > capacity - used ? [{ resource, requested, used, capacity }] : []
  })
  const capacity = amountOf(allocatable, 'pods')
  const used = BigInt(others.length)
  return used + 1n > capacity
    ? [{ resource: 'pods', requested: 1n, used, capacity }, ...shortages]
    : shortages
}

/** Of a device or of the cluster; one that the node does not have is not the node's to give. */
const isExtended = (name: string): boolean => /^(?!([^/]*\.)?kubernetes\.io\/)[^/]+\//.test(name)

export const requestOf = (pod: PodResources, resource: string): bigint =>
  resource === 'pods' ? 1n : amountOf(requestsOf(pod), resource)

/** Each pod is compared with all others: its sum is made once. */
const sums = new WeakMap<PodResources, ResourceList>()
function requestsOf(pod: PodResources): ResourceList {
  const known = sums.get(pod) ?? podRequests(pod)
  sums.set(pod, known)
  return known
}

function amountOf(list: ResourceList, resource: string): bigint {
  const quantity = list.get(resource)
  if (quantity === undefined) return 0n
  return resource === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity)
}
