// What becomes the files of a volume: keys of config maps and secrets, fields of the pod. Problems are in upstream's words,
// because people search for them.
import { keelsonError } from '../../../core/errors.js'
import type { ConfigMap, Secret } from '../../../core/kube/objects.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { DownwardFile, KeyedSource } from '../../../core/pod/spec/volume.js'
import type { ResourceList } from '../../../core/units/resource-list.js'
import { resourceFieldValue } from '../../environment/decide/resource-field.js'
import { quoteGo } from './quote-go.js'

export interface VolumeFile {
  readonly path: string
  /** Base64 where the object has it so. */
  readonly content: { readonly text: string } | { readonly base64: string }
  readonly mode: number
  readonly owner?: number
}

/** Where the event about it differs from that of most problems. */
interface VolumeProblemDetails {
  /** Default `SetUp`. */
  readonly step?: string
  /** Default: the volume's name in the pod. */
  readonly volume?: string
}

export const volumeProblem = (message: string, details: VolumeProblemDetails = {}): Error =>
  keelsonError('pod.volume', message, { ...details })

type Contents = ReadonlyMap<string, VolumeFile['content']>

const configMapContents = ({ data = {}, binaryData = {} }: ConfigMap): Contents =>
  new Map<string, VolumeFile['content']>([
    ...Object.entries(binaryData).map(([key, base64]) => [key, { base64 }] as const),
    ...Object.entries(data).map(([key, text]) => [key, { text }] as const),
  ])

const secretContents = ({ data = {} }: Secret): Contents =>
  new Map(Object.entries(data).map(([key, base64]) => [key, { base64 }] as const))

interface Keyed<T> {
  readonly source: KeyedSource
  /** Undefined: it does not exist. */
  readonly found: T | undefined
  readonly defaultMode: number
}

export function filesOfConfigMap({ source, found, defaultMode }: Keyed<ConfigMap>): readonly VolumeFile[] {
  if (found === undefined && !source.optional)
    throw volumeProblem(`configmap ${quoteGo(source.object)} not found`)
  return filesOfKeys(source, configMapContents(found ?? {}), defaultMode, (key) =>
    volumeProblem(`configmap references non-existent config key: ${key}`),
  )
}

export function filesOfSecret({ source, found, defaultMode }: Keyed<Secret>): readonly VolumeFile[] {
  if (found === undefined && !source.optional)
    throw volumeProblem(`secret ${quoteGo(source.object)} not found`)
  return filesOfKeys(source, secretContents(found ?? {}), defaultMode, (key) =>
    volumeProblem(`references non-existent secret key: ${key}`),
  )
}

function filesOfKeys(
  { items, optional }: KeyedSource,
  contents: Contents,
  defaultMode: number,
  missing: (key: string) => Error,
): readonly VolumeFile[] {
  if (items.length === 0)
    return [...contents].map(([path, content]) => ({ path, content, mode: defaultMode }))
  return items.flatMap(({ key, path, mode }) => {
    const content = contents.get(key)
    if (content !== undefined) return [{ path, content, mode: mode ?? defaultMode }]
    if (optional) return []
    throw missing(key)
  })
}

export const filesOfPod = (
  items: readonly DownwardFile[],
  spec: PodSpec,
  defaultMode: number,
  allocatable: ResourceList,
): readonly VolumeFile[] =>
  items.map(({ path, mode, value }) => ({
    path,
    mode: mode ?? defaultMode,
    content: {
      text:
        'fieldPath' in value
          ? fieldText(value.fieldPath, spec)
          : amountText(value.resource, spec, allocatable),
    },
  }))

function amountText(
  resource: Parameters<typeof resourceFieldValue>[2],
  { pod }: PodSpec,
  allocatable: ResourceList,
): string {
  const text = resourceFieldValue(pod, '', resource, allocatable)
  if (text === undefined) throw volumeProblem(`container ${resource.container ?? ''} not found`)
  return text
}

function fieldText(path: string, { pod, labels }: PodSpec): string {
  const entry = /^metadata\.(labels|annotations)(?:\['(.*)'\])?$/.exec(path)
  if (entry !== null) {
    const map = entry[1] === 'labels' ? labels : pod.annotations
    return entry[2] === undefined ? mapText(map) : (map.get(entry[2]) ?? '')
  }
  switch (path) {
    case 'metadata.name':
      return pod.name
    case 'metadata.namespace':
      return pod.namespace
    case 'metadata.uid':
      return pod.uid
    default:
      throw volumeProblem(`unsupported fieldPath: ${path}`)
  }
}

/** One `key="value"` a line, sorted; no line break at the end. */
const mapText = (map: ReadonlyMap<string, string>): string =>
  [...map]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${quoteGo(value)}`)
    .join('\n')
