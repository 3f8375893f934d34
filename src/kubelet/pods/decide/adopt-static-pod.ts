// Whether a static pod that runs on the node is the pod of a manifest, although another kubelet gave it another uid: then it is
// kept as it is. Pure. Uids of static pods are hashes that no two kubelets, nor two releases of one, compute alike.
import { isStaticPod } from '../../../core/pod/pod.js'
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import { containerHash } from './container-hash.js'
import { currentSandbox, newestOf, type ObservedPod } from './observed.js'
import { configSource } from './static-pod.js'

export interface StaticCandidate {
  readonly observed: ObservedPod
  /** Of its newest sandbox. */
  readonly annotations: Readonly<Record<string, string>>
  /** The uid that this kubelet had computed for its manifest when it took the pod over; empty: it has not. */
  readonly takenOverAs: string
}

/** The pod was started after the manifest's last change, with the same containers. */
export function isPodOfManifest(spec: PodSpec, changedAtNanos: bigint, candidate: StaticCandidate): boolean {
  const { observed, annotations, takenOverAs } = candidate
  const { name, namespace, uid } = spec.pod
  if (!isStaticPod(spec.pod) || annotations[configSource] !== 'file' || observed.uid === uid) return false
  if (observed.name !== name || observed.namespace !== namespace) return false
  if (takenOverAs !== '') return takenOverAs === uid
  const sandbox = currentSandbox(observed)
  if (sandbox === undefined || sandbox.createdAtNanos <= changedAtNanos) return false
  const specs = allContainerSpecs(spec)
  return (
    spec.containers.every((container) => newestOf(observed, container.name) !== undefined) &&
    observed.containers.every(({ name: seen, hash }) =>
      specs.some((container) => container.name === seen && containerHash(container) === hash),
    )
  )
}
