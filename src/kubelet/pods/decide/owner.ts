// Whose pod it is that the runtime shows: several kubelets, upstream's included, may run static pods on one runtime, and the
// upstream marks (config.source, a hash as uid) are on the pods of each of them. Only ours are ours to end.
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'
import { containerHash } from './container-hash.js'
import { currentSandbox, newestOf, type ObservedPod } from './observed.js'
import { configSource } from './static-pod.js'

/** Ours, on each sandbox. The first two are the kubelet that made it, the last the file that the pod came from. */
export const ownerMarks = {
  rootDir: 'keelson.dev/root-dir',
  node: 'keelson.dev/node',
  manifest: 'keelson.dev/manifest',
} as const

/** What distinguishes this kubelet from another one. */
export interface KubeletIdentity {
  /** As configured: two kubelets never share it. */
  readonly rootDir: string
  readonly nodeName: string
  readonly staticPodPath: string
  /** Pods come from an API server too. */
  readonly hasApi: boolean
}

interface SeenPod {
  readonly uid: string
  readonly name: string
  /** Of its newest sandbox. */
  readonly annotations: Readonly<Record<string, string>>
  /** A kubelet with this root directory made the pod's directory, or nothing of the pod runs any more. */
  readonly inherited?: boolean
}

/** Uids that a kubelet gives to static pods. */
const isStaticUid = (uid: string): boolean => /^[0-9a-f]{32}$/.test(uid)

/** Also those of the API server: what else lies in a directory of pods is not ours. */
export const isPodUid = (uid: string): boolean =>
  isStaticUid(uid) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uid)

const withoutSlash = (path: string): string => path.replace(/\/+$/, '')

/** Proven: this kubelet, an earlier life of it, or another kubelet in its place made the pod. */
export function isOwnPod(pod: SeenPod, self: KubeletIdentity): boolean {
  const { uid, name, annotations } = pod
  const { [ownerMarks.manifest]: manifest, [ownerMarks.rootDir]: rootDir } = annotations
  // With an API server, what it does not know was deleted there.
  if (annotations[configSource] === 'api')
    return (
      self.hasApi && (rootDir === undefined ? pod.inherited === true : rootDir === withoutSlash(self.rootDir))
    )
  // A static pod of the kubelet that this one has replaced; it is started anew from its manifest.
  const isOfNode = name.endsWith(`-${self.nodeName.toLowerCase()}`)
  if (annotations[configSource] === 'file' && manifest === undefined && rootDir === undefined)
    return self.hasApi && pod.inherited === true && isOfNode
  if (annotations[configSource] !== 'file' || !isStaticUid(uid) || manifest === undefined) return false
  const path = withoutSlash(self.staticPodPath)
  const isFromHere = manifest === path || manifest.startsWith(`${path}/`)
  // 0.1.0 noted the manifest alone: the directory and the node's name at the end of the pod's must do.
  if (rootDir === undefined) return isFromHere && isOfNode
  // A node may be renamed or its manifests moved while nothing runs; both at once is another kubelet.
  return (
    rootDir === withoutSlash(self.rootDir) && (annotations[ownerMarks.node] === self.nodeName || isFromHere)
  )
}

/** Another kubelet has marked the pod, even if this one wants a pod with the same uid. */
export const isMarkedByOther = (
  annotations: Readonly<Record<string, string>>,
  self: KubeletIdentity,
): boolean => {
  const rootDir = annotations[ownerMarks.rootDir]
  return rootDir !== undefined && rootDir !== withoutSlash(self.rootDir)
}

export const ownMarks = (self: KubeletIdentity, manifest: string): Readonly<Record<string, string>> => ({
  [ownerMarks.rootDir]: withoutSlash(self.rootDir),
  [ownerMarks.node]: self.nodeName,
  [ownerMarks.manifest]: manifest,
})

export interface StaticCandidate {
  readonly observed: ObservedPod
  /** Of its newest sandbox. */
  readonly annotations: Readonly<Record<string, string>>
  /** The uid that this kubelet had computed for its manifest when it took the pod over; empty: it has not. */
  readonly takenOverAs: string
}

/**
 * The pod of a manifest, although another kubelet gave it another uid: it was started after the manifest's last change, with the
 * same containers. Uids of static pods are hashes that no two kubelets, nor two releases of one, compute alike.
 */
export function isPodOfManifest(spec: PodSpec, changedAtNanos: bigint, candidate: StaticCandidate): boolean {
  const { observed, annotations, takenOverAs } = candidate
  const { name, namespace, uid } = spec.pod
  if (annotations[configSource] !== 'file' || observed.uid === uid) return false
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
