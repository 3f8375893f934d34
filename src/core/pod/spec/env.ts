// The variables of a container: values, and where values come from.
import { isKeelsonError } from '../../errors.js'
import { parseQuantity } from '../../units/quantity.js'
import type { FieldReader } from './read-fields.js'
import { clusterEnvSources } from './refused.js'
import type { EnvFrom, EnvVar, FileKey, ObjectKey, ResourceField } from './spec.js'
import type { Volume } from './volume.js'

/** `=` would end the name; the rest of ASCII that can be seen is allowed, as the API has it. */
const variableName = { pattern: /^[\x20-\x3c\x3e-\x7e]{1,4096}$/, looksLike: 'printable ASCII without =' }
const objectName = {
  required: true,
  pattern: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  looksLike: 'the name of an object',
}
const objectKey = { required: true, pattern: /^[-._a-zA-Z0-9]{1,253}$/, looksLike: 'a key of the object' }

export function readEnv(given: FieldReader, volumes: readonly Volume[]): readonly EnvVar[] {
  return given.objects('env').flatMap((entry): EnvVar[] => {
    const name = entry.text('name', { required: true, ...variableName })
    const value = entry.raw('value')
    const from = entry.object('valueFrom')
    entry.close()
    if (value !== undefined && typeof value !== 'string')
      entry.problem('value', 'is not a text', 'put the value in quotes')
    if (typeof value === 'string' && value.includes('\0'))
      entry.problem('value', 'holds a NUL character', 'remove it')
    if (from !== undefined && value !== undefined && value !== '')
      entry.problem('valueFrom', 'is given beside value', 'keep one')
    if (name === undefined) return []
    if (from === undefined) return [{ name, value: typeof value === 'string' ? value : '' }]
    const source = readSource(from, volumes)
    return source === undefined ? [] : [{ name, ...source }]
  })
}

type Source =
  | { readonly fieldPath: string }
  | { readonly resource: ResourceField }
  | { readonly configMapKey: ObjectKey }
  | { readonly secretKey: ObjectKey }
  | { readonly fileKey: FileKey }

function readSource(from: FieldReader, volumes: readonly Volume[]): Source | undefined {
  from.refuseInFile(clusterEnvSources)
  const field = from.object('fieldRef')
  const resource = from.object('resourceFieldRef')
  const configMap = from.object('configMapKeyRef')
  const secret = from.object('secretKeyRef')
  const file = from.object('fileKeyRef')
  from.close()
  const count = [field, resource, configMap, secret, file].filter((source) => source !== undefined).length
  if (count !== 1) from.problem('', `has ${count} sources`, 'give one')
  if (field !== undefined) return withKey('fieldPath', readFieldPath(field))
  if (resource !== undefined) return withKey('resource', readResource(resource))
  if (configMap !== undefined) return withKey('configMapKey', readKey(configMap))
  if (secret !== undefined) return withKey('secretKey', readKey(secret))
  return file === undefined ? undefined : withKey('fileKey', readFileKey(file, volumes))
}

/** Undefined stays undefined: the problem is noted already. */
const withKey = <K extends string, T>(key: K, value: T | undefined): { readonly [P in K]: T } | undefined =>
  value === undefined ? undefined : ({ [key]: value } as { [P in K]: T })

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const mapPath = /^metadata\.(labels|annotations)\['[^']{1,317}'\]$/

function readFieldPath(ref: FieldReader): string | undefined {
  const version = ref.text('apiVersion')
  if (version !== undefined && version !== 'v1') ref.problem('apiVersion', `is ${version}`, 'use v1')
  const path = ref.text('fieldPath', { required: true })
  ref.close()
  if (path === undefined || fieldPaths.includes(path) || mapPath.test(path)) return path
  ref.problem('fieldPath', `${path} is not a field that a container can have`, `use ${fieldPaths.join(', ')}`)
  return undefined
}

export function readResource(ref: FieldReader): ResourceField | undefined {
  const container = ref.text('containerName')
  const resource = ref.text('resource', {
    required: true,
    pattern: /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9A-Za-z]{1,16})$/,
    looksLike: 'for example limits.cpu or requests.memory',
  })
  const divisor = readDivisor(ref)
  ref.close()
  return resource === undefined || divisor === undefined ? undefined : { container, resource, divisor }
}

/** 0 is what an API server writes where none was given. */
function readDivisor(ref: FieldReader): string | undefined {
  const value = ref.raw('divisor')
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  if (value === undefined || text === '0') return '1'
  try {
    if (parseQuantity(text).nanos > 0n) return text
  } catch (e) {
    if (!isKeelsonError(e)) throw e
  }
  ref.problem('divisor', 'is not a quantity', 'write for example 1Mi')
  return undefined
}

function readKey(ref: FieldReader): ObjectKey | undefined {
  const object = ref.text('name', objectName)
  const key = ref.text('key', objectKey)
  const optional = ref.flag('optional') ?? false
  ref.close()
  return object === undefined || key === undefined ? undefined : { object, key, optional }
}

function readFileKey(ref: FieldReader, volumes: readonly Volume[]): FileKey | undefined {
  const volume = ref.text('volumeName', { required: true })
  const path = ref.text('path', { required: true, maxLength: 4096 })
  const key = ref.text('key', { required: true, ...variableName })
  const optional = ref.flag('optional') ?? false
  ref.close()
  if (volume === undefined || path === undefined || key === undefined) return undefined
  if (path.startsWith('/') || path.split('/').includes('..'))
    ref.problem('path', 'is absolute or holds ..', 'write a path inside the volume')
  if (volumes.find((v) => v.name === volume)?.kind !== 'emptyDir')
    ref.problem('volumeName', `${volume} is no emptyDir of the pod`, 'name an emptyDir of spec.volumes')
  return { volume, path, key, optional }
}

export function readEnvFrom(given: FieldReader): readonly EnvFrom[] {
  return given.objects('envFrom').flatMap((entry): EnvFrom[] => {
    const prefix = entry.text('prefix', variableName) ?? ''
    const configMap = entry.object('configMapRef')
    const secret = entry.object('secretRef')
    entry.close()
    const ref = configMap ?? secret
    if (ref === undefined || (configMap !== undefined && secret !== undefined)) {
      entry.problem('', 'has not exactly one source', 'give configMapRef or secretRef')
      return []
    }
    const object = ref.text('name', objectName)
    const optional = ref.flag('optional') ?? false
    ref.close()
    const kind = configMap === undefined ? 'secret' : 'configMap'
    return object === undefined ? [] : [{ kind, object, optional, prefix }]
  })
}
