// What makes a manifest on disk a static pod: its uid from its content, its name with the node's, and the annotations by
// that show every tool that it came from a file.

import { qosClassOf } from '../../../core/pod/qos-class.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'

export interface StaticPodOrigin {
  readonly file: string
  readonly nodeName: string
  /** RFC 3339. */
  readonly seenAt: string
  /** InPlace: an edit of only cpu and memory is the same pod. */
  readonly resize: 'Recreate' | 'InPlace'
  /** At least 32 hexadecimal digits of a hash. */
  readonly digest: (text: string) => string
}

export const configHash = 'kubernetes.io/config.hash'
export const configSeen = 'kubernetes.io/config.seen'
export const configSource = 'kubernetes.io/config.source'

export function identifyStaticPod(spec: PodSpec, origin: StaticPodOrigin): PodSpec {
  const annotations = new Map([...spec.pod.annotations, [configSeen, origin.seenAt], [configSource, 'file']])
  const name = `${spec.pod.name}-${origin.nodeName.toLowerCase()}`
  return withUid({ ...spec, pod: { ...spec.pod, name, annotations } }, staticPodUid(spec, origin))
}

/** The uid of a static pod is its hash too, by which its mirror is known. */
export const withUid = (spec: PodSpec, uid: string): PodSpec => ({
  ...spec,
  pod: { ...spec.pod, uid, annotations: new Map([...spec.pod.annotations, [configHash, uid]]) },
})

function staticPodUid(spec: PodSpec, { file, nodeName, resize, digest }: StaticPodOrigin): string {
  const { metadata, spec: body } = spec.document
  const content = {
    host: nodeName,
    file,
    name: spec.pod.name,
    namespace: spec.pod.namespace,
    labels: metadata['labels'],
    annotations: metadata['annotations'],
    spec: resize === 'InPlace' ? withoutAmounts(body) : body,
    // A resize never changes the class of a pod, so an edit that does is another pod.
    ...(resize === 'InPlace' ? { qosClass: qosClassOf(spec.pod) } : {}),
  }
  return digest(canonicalJson(content)).slice(0, 32)
}

type Fields = Readonly<Record<string, unknown>>

/** cpu and memory of the pod and of each container, which may change under a running pod. */
function withoutAmounts(spec: Fields): Fields {
  const strip = (holder: unknown): unknown => {
    const fields = holder as Fields
    const resources = fields['resources'] as Fields | undefined | null
    if (resources === undefined || resources === null) return fields
    const part = (key: string): [string, unknown] => {
      const amounts = Object.entries((resources[key] ?? {}) as Fields)
      return [key, Object.fromEntries(amounts.filter(([name]) => name !== 'cpu' && name !== 'memory'))]
    }
    return { ...fields, resources: { ...resources, ...Object.fromEntries(['requests', 'limits'].map(part)) } }
  }
  const list = (key: string): Fields => {
    const entries = spec[key] as readonly unknown[] | undefined | null
    return entries === undefined || entries === null ? {} : { [key]: entries.map(strip) }
  }
  return { ...(strip(spec) as Fields), ...list('containers'), ...list('initContainers') }
}

/** The same text for the same content, whatever the order of the keys; nulls and empty parts do not count. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, entry]) => !isNothing(entry))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`
  }
  return typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? 'null')
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && !Array.isArray(value) && Object.values(value).every(isNothing))
