// Sources whose content becomes files of a volume: keys of config maps and secrets, fields of the pod, tokens, trust bundles.
import { readResource } from './env.js'
import type { FieldReader } from './read-fields.js'
import { clusterProjections, refusedProjections } from './refused.js'
import type {
  DownwardFile,
  KeyedSource,
  KeyToPath,
  Projection,
  TrustBundleProjection,
  TrustBundleSelector,
} from './volume.js'

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
export const objectName = {
  required: true,
  pattern: subdomain,
  looksLike: 'the name of an object',
  maxLength: 253,
}
const maxPath = 4096

export const readMode = (given: FieldReader, key: string): number | undefined =>
  given.whole(key, { min: 0, max: 0o777 })

/** A file inside a volume: relative, and not where the volume keeps its own. */
function readPath(given: FieldReader, key = 'path'): string | undefined {
  const path = given.text(key, { required: true, maxLength: maxPath })
  if (path === undefined) return undefined
  const parts = path.split('/')
  if (!path.startsWith('/') && !parts.includes('..') && !path.startsWith('..')) return path
  given.problem(key, 'is absolute or begins with ..', 'write a path inside the volume')
  return undefined
}

export function readKeyedSource(given: FieldReader, nameKey = 'name'): KeyedSource | undefined {
  const object = given.text(nameKey, objectName)
  const items = given.objects('items').flatMap((entry): KeyToPath[] => {
    const key = entry.text('key', {
      required: true,
      pattern: /^[-._a-zA-Z0-9]+$/,
      looksLike: 'letters, digits, dashes, dots, underscores',
      maxLength: 253,
    })
    const path = readPath(entry)
    const mode = readMode(entry, 'mode')
    entry.close()
    return key === undefined || path === undefined ? [] : [{ key, path, mode }]
  })
  const optional = given.flag('optional') ?? false
  given.close()
  return object === undefined ? undefined : { object, items, optional }
}

const downwardField =
  /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['[^']{1,317}'\])$/

export function readDownwardFiles(given: FieldReader): readonly DownwardFile[] {
  return given.objects('items').flatMap((entry): DownwardFile[] => {
    const path = readPath(entry)
    const mode = readMode(entry, 'mode')
    const fieldRef = entry.object('fieldRef')
    const resourceRef = entry.object('resourceFieldRef')
    entry.close()
    if ((fieldRef === undefined) === (resourceRef === undefined)) {
      entry.problem('', 'has not exactly one source', 'give fieldRef or resourceFieldRef')
      return []
    }
    const value = fieldRef === undefined ? readAmount(resourceRef) : readField(fieldRef)
    return path === undefined || value === undefined ? [] : [{ path, mode, value }]
  })
}

function readField(ref: FieldReader): DownwardFile['value'] | undefined {
  const version = ref.text('apiVersion')
  if (version !== undefined && version !== 'v1') ref.problem('apiVersion', `is ${version}`, 'use v1')
  const fieldPath = ref.text('fieldPath', {
    required: true,
    pattern: downwardField,
    looksLike: "metadata.name, metadata.namespace, metadata.uid, metadata.labels, metadata.labels['key']",
  })
  ref.close()
  return fieldPath === undefined ? undefined : { fieldPath }
}

function readAmount(ref: FieldReader | undefined): DownwardFile['value'] | undefined {
  const resource = ref === undefined ? undefined : readResource(ref)
  if (resource === undefined) return undefined
  if (resource.container !== undefined) return { resource }
  ref?.problem('containerName', 'is missing', 'a volume belongs to no container: name one')
  return undefined
}

export function readProjections(given: FieldReader): readonly Projection[] {
  return given.objects('sources').flatMap((entry): Projection[] => {
    entry.refuseInFile(clusterProjections)
    entry.refuse(refusedProjections)
    const found = Object.entries(projections).flatMap(([kind, read]) => {
      const source = entry.object(kind)
      return source === undefined ? [] : [{ kind, read, source }]
    })
    entry.close()
    if (found.length > 1)
      entry.problem('', `is both ${found.map(({ kind }) => kind).join(' and ')}`, 'keep one')
    const projection = found[0]?.read(found[0].source)
    return projection === undefined ? [] : [projection]
  })
}

const projections: Readonly<Record<string, (given: FieldReader) => Projection | undefined>> = {
  configMap: (given) => withKind('configMap', readKeyedSource(given)),
  secret: (given) => withKind('secret', readKeyedSource(given)),
  downwardAPI: (given) => {
    const items = readDownwardFiles(given)
    given.close()
    return { kind: 'downwardAPI', items }
  },
  serviceAccountToken: (given) => {
    const path = readPath(given)
    const audience = given.text('audience', { maxLength: 4096 }) ?? ''
    const expirationSeconds = given.whole('expirationSeconds', { min: 600, max: 2 ** 32 }) ?? 3600
    given.close()
    return path === undefined ? undefined : { kind: 'serviceAccountToken', path, audience, expirationSeconds }
  },
  clusterTrustBundle: readTrustBundle,
}

const withKind = (kind: 'configMap' | 'secret', source: KeyedSource | undefined): Projection | undefined =>
  source === undefined ? undefined : { kind, ...source }

function readTrustBundle(given: FieldReader): TrustBundleProjection | undefined {
  const path = readPath(given)
  const optional = given.flag('optional') ?? false
  const name = given.text('name', { maxLength: 253 })
  const signerName = given.text('signerName', { maxLength: 571 })
  const selector = given.object('labelSelector')
  const labels = selector === undefined ? undefined : readSelector(selector)
  given.close()
  if ((name === undefined) === (signerName === undefined)) {
    given.problem('', 'has not exactly one of name and signerName', 'give one')
    return undefined
  }
  if (path === undefined) return undefined
  const of = name === undefined ? { signerName: signerName ?? '', labels } : { name }
  return { kind: 'clusterTrustBundle', path, optional, of }
}

function readSelector(given: FieldReader): TrustBundleSelector {
  const matchLabels = given.textMap('matchLabels')
  const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const
  const matchExpressions = given.objects('matchExpressions').flatMap((entry) => {
    const key = entry.text('key', { required: true })
    const operator = entry.choice('operator', operators)
    const values = entry.texts('values')
    entry.close()
    return key === undefined || operator === undefined ? [] : [{ key, operator, values }]
  })
  given.close()
  return { matchLabels, matchExpressions }
}
