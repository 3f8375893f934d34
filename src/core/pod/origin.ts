// Which uid the node knows a pod by. A mirror pod's own uid is the API server's and its annotation has the one that the
// cgroup is named after; but everybody who may create a pod may write annotations, so they count only where more proves them.
import type { PodResources } from './pod.js'

/** Who told of the pod: a kubelet notes `config.source` itself, the API server passes on what users wrote. */
export type PodTeller = 'api' | 'kubelet'

const source = 'kubernetes.io/config.source'
const hash = 'kubernetes.io/config.hash'
const mirror = 'kubernetes.io/config.mirror'

/** A hash of the manifest, or the uid that the manifest has: what kubelets give to static pods. */
const uidPattern = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** `pod` as read from `object`: annotations that are not proven go, and a proven one becomes `staticUid`. */
export function withOrigin(pod: PodResources, object: unknown, teller: PodTeller): PodResources {
  const claimed = pod.annotations.get(mirror) || pod.annotations.get(hash) || ''
  const isProven = teller === 'kubelet' ? isFromFile(pod) : isOwnedByNode(pod, object)
  const isStatic = isProven && uidPattern.test(claimed)
  const annotations = new Map(pod.annotations)
  if (!isStatic) for (const name of [hash, mirror]) annotations.delete(name)
  if (teller === 'api') annotations.delete(source)
  return { ...pod, annotations, ...(isStatic ? { staticUid: claimed } : {}) }
}

function isFromFile({ annotations }: PodResources): boolean {
  const from = annotations.get(source)
  return from === 'file' || from === 'http'
}

/** Kubelets make their mirror pods the node's own. */
function isOwnedByNode({ annotations }: PodResources, object: unknown): boolean {
  if (!annotations.has(mirror)) return false
  const { metadata, spec } = fieldsOf(object)
  const owners = fieldsOf(metadata)['ownerReferences']
  const nodeName = fieldsOf(spec)['nodeName']
  return (Array.isArray(owners) ? owners : []).map(fieldsOf).some((owner) => {
    const isNode = owner['apiVersion'] === 'v1' && owner['kind'] === 'Node'
    return isNode && owner['controller'] === true && owner['name'] === nodeName
  })
}

export interface PodName {
  readonly namespace: string
  readonly name: string
}

interface RefusedClaim {
  readonly pod: PodResources
  readonly why: string
}

interface SettledPods {
  /** Each with the uid of its cgroup; no two with the same. */
  readonly pods: readonly PodResources[]
  readonly refused: readonly RefusedClaim[]
}

const text = ({ namespace, name }: PodName): string => `${namespace}/${name}`

/**
 * A uid that the API server or the kubelet gave is unique. One from an annotation counts while the runtime runs
 * containers of it for a pod of that very name; until then the pod stands under its own uid, where nothing is found.
 */
export function settlePodUids(
  pods: readonly PodResources[],
  runningAs: (uid: string) => PodName | undefined,
): SettledPods {
  const refused: RefusedClaim[] = []
  const byUid = new Map<string, PodResources>()
  const claims: { readonly pod: PodResources; readonly uid: string }[] = []
  for (const { staticUid, ...pod } of pods) {
    const holder = byUid.get(pod.uid)
    if (staticUid !== undefined && staticUid !== pod.uid) claims.push({ pod, uid: staticUid })
    else if (holder === undefined) byUid.set(pod.uid, pod)
    else refused.push({ pod, why: `its uid ${pod.uid} is that of pod ${text(holder)}` })
  }
  for (const { pod, uid } of claims) {
    const holder = byUid.get(uid)
    const runs = runningAs(uid)
    const owner = holder ?? (runs !== undefined && text(runs) !== text(pod) ? runs : undefined)
    if (owner !== undefined)
      refused.push({ pod, why: `its annotations name the uid ${uid} of pod ${text(owner)}` })
    const isProven = owner === undefined && runs !== undefined
    const own = isProven ? { ...pod, uid } : pod
    if (!byUid.has(own.uid)) byUid.set(own.uid, own)
  }
  return { pods: [...byUid.values()], refused }
}
