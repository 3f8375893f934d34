// A pod as decisions about its resources see it, with quantities already read. Reading untyped input is parse-pod.ts,
// filling in defaults is defaults.ts; what a kubelet runs of a pod is spec/spec.ts.
import { noRequirements, type ResourceList, type ResourceRequirements } from '../units/resource-list.js'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'
export const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort']

export type ContainerType = 'init' | 'sidecar' | 'app' | 'ephemeral'

export interface Container {
  readonly name: string
  readonly type: ContainerType
  readonly resources: ResourceRequirements
}

export interface PodResources {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** The uid that a static pod's annotations give it, where its origin proves them: pod-origin.ts. */
  readonly staticUid?: string
  readonly annotations: ReadonlyMap<string, string>
  /** Plain init containers and sidecars, in the order of the manifest: the order decides the pod's request. */
  readonly initContainers: readonly Container[]
  readonly containers: readonly Container[]
  readonly ephemeralContainers: readonly Container[]
  readonly overhead: ResourceList
  /** Pod-level resources; undefined when spec.resources is absent. */
  readonly resources: ResourceRequirements | undefined
  readonly priority: number | undefined
  readonly priorityClassName: string
  readonly qosClass: QosClass | undefined
  readonly phase: string
}

export const allContainers = (pod: PodResources): readonly Container[] => [
  ...pod.initContainers,
  ...pod.containers,
  ...pod.ephemeralContainers,
]

/** Ephemeral containers have no requests and limits of their own, whatever the manifest says. */
export const resourcesOf = (container: Container): ResourceRequirements =>
  container.type === 'ephemeral' ? noRequirements : container.resources

export const isTerminated = (pod: PodResources): boolean =>
  pod.phase === 'Succeeded' || pod.phase === 'Failed'

const sourceAnnotation = 'kubernetes.io/config.source'
const mirrorAnnotation = 'kubernetes.io/config.mirror'
const criticalPriority = 2_000_000_000

export function isStaticPod(pod: PodResources): boolean {
  const source = pod.annotations.get(sourceAnnotation)
  return source !== undefined && source !== 'api'
}

export const isCriticalPod = (pod: PodResources): boolean =>
  isStaticPod(pod) ||
  pod.annotations.has(mirrorAnnotation) ||
  (pod.priority !== undefined && pod.priority >= criticalPriority)

export const isNodeCriticalPod = (pod: PodResources): boolean =>
  isCriticalPod(pod) && pod.priorityClassName === 'system-node-critical'
