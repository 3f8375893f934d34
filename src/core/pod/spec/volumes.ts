// Volumes of a pod and where its containers mount them.
import { isKeelsonError } from '../../errors.js'
import { parseQuantity, quantityValue } from '../../units/quantity.js'
import { defaultPull } from './image-reference.js'
import type { FieldReader } from './read-fields.js'
import { clusterVolumeKinds, refusedVolumeKinds } from './refused.js'
import { hostPathTypes, type Volume, type VolumeMount } from './volume.js'
import {
  objectName,
  readDownwardFiles,
  readKeyedSource,
  readMode,
  readProjections,
} from './volume-sources.js'

const label = {
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  looksLike: 'lower case letters, digits, dashes',
}
const defaultFileMode = 0o644

export function readVolumes(spec: FieldReader): readonly Volume[] {
  const names = new Set<string>()
  return spec.objects('volumes').flatMap((given) => {
    const name = given.text('name', { required: true, ...label })
    if (name !== undefined && names.has(name)) given.problem('name', `${name} is there twice`, 'rename one')
    if (name !== undefined) names.add(name)
    const volume = readSource(given, name ?? '')
    given.close()
    return volume === undefined ? [] : [volume]
  })
}

type ReadKind = (given: FieldReader, name: string) => Volume | undefined

const kinds: Readonly<Record<string, ReadKind>> = {
  emptyDir: readEmptyDir,
  hostPath: readHostPath,
  configMap: (given, name) => readObjectVolume(given, name, 'configMap', 'name'),
  secret: (given, name) => readObjectVolume(given, name, 'secret', 'secretName'),
  downwardAPI: readDownward,
  projected: readProjected,
  persistentVolumeClaim: readClaim,
  ephemeral: readEphemeral,
  image: readImage,
}

function readSource(given: FieldReader, name: string): Volume | undefined {
  given.refuseInFile({ ...clusterVolumeKinds, ...refusedVolumeKinds })
  const found = Object.entries(kinds).flatMap(([kind, read]) => {
    const source = given.object(kind)
    return source === undefined ? [] : [{ kind, read, source }]
  })
  const others = Object.keys(refusedVolumeKinds).filter((kind) => given.raw(kind) !== undefined)
  const all = [...found.map(({ kind }) => kind), ...others]
  if (all.length > 1) given.problem('', `is both ${all.join(' and ')}`, 'keep one')
  const [first] = found
  if (first !== undefined) return first.read(first.source, name)
  const [other] = others
  if (other !== undefined) return { name, kind: 'unsupported', source: other }
  // A volume without any source is an emptyDir, by API defaulting.
  return { name, kind: 'emptyDir', medium: 'disk', pageSize: undefined, sizeLimit: undefined }
}

function readEmptyDir(given: FieldReader, name: string): Volume {
  const text = given.text('medium')
  const huge = text === undefined ? null : /^HugePages(?:-([0-9A-Za-z]{1,16}))?$/.exec(text)
  if (text !== undefined && text !== 'Memory' && huge === null)
    given.problem('medium', `${text} is not supported`, 'leave it out, or write Memory or HugePages')
  const pageSize = huge?.[1] === undefined ? undefined : readAmount(given, 'medium', huge[1])
  const limit = given.raw('sizeLimit')
  const sizeLimit = limit === undefined ? undefined : readAmount(given, 'sizeLimit', limit)
  const medium = text === 'Memory' ? 'memory' : huge === null ? 'disk' : 'hugepages'
  given.close()
  return { name, kind: 'emptyDir', medium, pageSize, sizeLimit }
}

/** Undefined: none, or none that can be read. */
function readAmount(given: FieldReader, key: string, value: unknown): bigint | undefined {
  try {
    // An object of a parser may have no way to be a text.
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    const amount = quantityValue(parseQuantity(text.trim()))
    if (amount >= 0n) return amount === 0n ? undefined : amount
  } catch (e) {
    if (!isKeelsonError(e)) throw e
  }
  given.problem(key, 'is not a quantity', 'write for example 64Mi')
  return undefined
}

function readHostPath(given: FieldReader, name: string): Volume | undefined {
  const path = given.text('path', { required: true, maxLength: 4096 })
  const type = given.choice('type', hostPathTypes)
  given.close()
  if (path === undefined) return undefined
  if (!isPlainPath(path)) {
    given.problem('path', 'is not an absolute path without ..', 'write the whole path')
    return undefined
  }
  return { name, kind: 'hostPath', path, type }
}

function readObjectVolume(
  given: FieldReader,
  name: string,
  kind: 'configMap' | 'secret',
  nameKey: string,
): Volume | undefined {
  const defaultMode = readMode(given, 'defaultMode') ?? defaultFileMode
  const source = readKeyedSource(given, nameKey)
  return source === undefined ? undefined : { name, kind, defaultMode, ...source }
}

function readDownward(given: FieldReader, name: string): Volume {
  const defaultMode = readMode(given, 'defaultMode') ?? defaultFileMode
  const items = readDownwardFiles(given)
  given.close()
  return { name, kind: 'downwardAPI', defaultMode, items }
}

function readProjected(given: FieldReader, name: string): Volume {
  const defaultMode = readMode(given, 'defaultMode') ?? defaultFileMode
  const sources = readProjections(given)
  given.close()
  return { name, kind: 'projected', defaultMode, sources }
}

function readClaim(given: FieldReader, name: string): Volume | undefined {
  const claimName = given.text('claimName', objectName)
  const readOnly = given.flag('readOnly') ?? false
  given.close()
  return claimName === undefined ? undefined : { name, kind: 'persistentVolumeClaim', claimName, readOnly }
}

/** What the claim looks like is for the controller that makes it. */
function readEphemeral(given: FieldReader, name: string): Volume {
  given.ignore(['volumeClaimTemplate'])
  given.close()
  return { name, kind: 'persistentVolumeClaim', claimName: undefined, readOnly: false }
}

function readImage(given: FieldReader, name: string): Volume | undefined {
  const reference = given.text('reference', { required: true, maxLength: 4096 })
  const policy = given.choice('pullPolicy', ['Always', 'IfNotPresent', 'Never'])
  given.close()
  if (reference === undefined) return undefined
  return { name, kind: 'image', reference, pullPolicy: policy ?? defaultPull(reference) }
}

/** `..` could name another place than the one that was allowed. */
export const isPlainPath = (path: string): boolean => path.startsWith('/') && !path.split('/').includes('..')

export function readMounts(
  container: FieldReader,
  volumes: readonly Volume[],
  privileged: boolean,
): readonly VolumeMount[] {
  const paths = new Set<string>()
  return container.objects('volumeMounts').flatMap((given) => {
    const volume = given.text('name', { required: true })
    const path = given.text('mountPath', { required: true, maxLength: 4096 })
    const readOnly = given.flag('readOnly') ?? false
    const propagation =
      given.choice('mountPropagation', ['None', 'HostToContainer', 'Bidirectional']) ?? 'None'
    const recursiveReadOnly = readRecursive(given, readOnly, propagation)
    const subPath = readSubPath(given)
    given.close()
    if (propagation === 'Bidirectional' && !privileged)
      given.problem('mountPropagation', 'Bidirectional needs a privileged container', 'set privileged: true')
    const found = volumes.find((v) => v.name === volume)
    if (volume !== undefined && found === undefined)
      given.problem('name', `there is no volume ${volume}`, 'name one of spec.volumes')
    if (path === undefined || volume === undefined) return []
    if (path.includes(':') || !isPlainPath(path.startsWith('/') ? path : `/${path}`))
      given.problem('mountPath', 'holds .. or a colon', 'write a plain path')
    if (paths.has(path)) given.problem('mountPath', `${path} is mounted twice`, 'keep one')
    paths.add(path)
    return [{ volume, path, readOnly, recursiveReadOnly, propagation, subPath }]
  })
}

function readRecursive(
  given: FieldReader,
  readOnly: boolean,
  propagation: VolumeMount['propagation'],
): VolumeMount['recursiveReadOnly'] {
  const value = given.choice('recursiveReadOnly', ['Disabled', 'IfPossible', 'Enabled']) ?? 'Disabled'
  if (value !== 'Disabled' && !readOnly)
    given.problem('recursiveReadOnly', 'needs readOnly: true', 'set readOnly: true')
  if (value !== 'Disabled' && propagation !== 'None')
    given.problem('recursiveReadOnly', 'does not go with mountPropagation', 'remove one')
  return value
}

function readSubPath(given: FieldReader): VolumeMount['subPath'] {
  const path = given.text('subPath', { maxLength: 4096 })
  const expression = given.text('subPathExpr', { maxLength: 4096 })
  if (path !== undefined && expression !== undefined)
    given.problem('subPathExpr', 'is given beside subPath', 'keep one')
  const text = path ?? expression
  if (text === undefined) return undefined
  if (text.startsWith('/') || text.split('/').includes('..'))
    given.problem(
      path === undefined ? 'subPathExpr' : 'subPath',
      'is absolute or holds ..',
      'write a path inside the volume',
    )
  return { kind: path === undefined ? 'expression' : 'path', text }
}
