// Which pods end so that a critical pod fits: as few and as unimportant as possible. The choice is upstream's.
import { isCriticalPod, type PodResources } from '../../../core/pod/pod.js'
import { qosClassOf } from '../../../core/pod/qos-class.js'
import { requestOf, type Shortage } from './resources.js'

interface Requirement {
  readonly resource: string
  readonly missing: bigint
}

/** Undefined: no set of pods that may be ended frees enough. */
export function choosePreempted(
  pod: PodResources,
  others: readonly PodResources[],
  shortages: readonly Shortage[],
): readonly PodResources[] | undefined {
  const required = shortages.map(({ resource, requested, used, capacity }) => ({
    resource,
    missing: requested - (capacity - used),
  }))
  const [bestEffort = [], burstable = [], guaranteed = []] = (
    ['BestEffort', 'Burstable', 'Guaranteed'] as const
  ).map((qos) => others.filter((other) => qosClassOf(other) === qos && mayPreempt(pod, other)))
  if (without(required, [...bestEffort, ...burstable, ...guaranteed]).length > 0) return undefined
  // Of each class only what would be missing if all of the lesser classes had ended already.
  const ofGuaranteed = nearest(guaranteed, without(required, [...bestEffort, ...burstable]))
  const ofBurstable = nearest(burstable, without(required, [...bestEffort, ...ofGuaranteed]))
  const ofBestEffort = nearest(bestEffort, without(required, [...ofBurstable, ...ofGuaranteed]))
  return [...ofBestEffort, ...ofBurstable, ...ofGuaranteed]
}

export const describeShortages = (shortages: readonly Shortage[]): string =>
  `[${shortages.map(({ resource, requested, used, capacity }) => `(res: ${resource}, q: ${requested - (capacity - used)}), `).join('')}]`

const mayPreempt = (pod: PodResources, other: PodResources): boolean =>
  (isCriticalPod(pod) && !isCriticalPod(other)) ||
  (pod.priority !== undefined && other.priority !== undefined && pod.priority > other.priority)

/** What is still missing once these have ended. */
const without = (required: readonly Requirement[], ended: readonly PodResources[]): readonly Requirement[] =>
  required.flatMap(({ resource, missing }) => {
    const rest = ended.reduce((left, pod) => left - requestOf(pod, resource), missing)
    return rest > 0n ? [{ resource, missing: rest }] : []
  })

/** Again and again the one that frees most of what is missing; of equals the smaller. */
function nearest(pods: readonly PodResources[], required: readonly Requirement[]): readonly PodResources[] {
  const [best] = pods.toSorted((a, b) => distance(a, required) - distance(b, required) || bySize(a, b))
  if (required.length === 0 || best === undefined) return []
  const left = pods.filter((pod) => pod !== best)
  return [best, ...nearest(left, without(required, [best]))]
}

/** The squares of the parts that would still be missing: each resource counts the same. */
const distance = (pod: PodResources, required: readonly Requirement[]): number =>
  required.reduce((sum, { resource, missing }) => {
    const rest = Number(missing - requestOf(pod, resource))
    return rest > 0 ? sum + (rest / Number(missing)) ** 2 : sum
  }, 0)

function bySize(a: PodResources, b: PodResources): number {
  for (const resource of ['memory', 'cpu']) {
    const [one, two] = [requestOf(a, resource), requestOf(b, resource)]
    if (one !== two) return one < two ? -1 : 1
  }
  return 0
}
