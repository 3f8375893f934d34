// Volumes of a pod and where its containers mount them.
import { isKeelsonError } from '../../errors.js'
import { parseQuantity, quantityValue } from '../../units/quantity.js'
import type { FieldReader } from './read-fields.js'
import { refusedMountFields, refusedVolumeKinds } from './refused.js'
import { hostPathTypes, type Volume, type VolumeMount } from './spec.js'

const label = {
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  looksLike: 'lower case letters, digits, dashes',
}

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

function readSource(given: FieldReader, name: string): Volume | undefined {
  given.refuse(refusedVolumeKinds)
  const emptyDir = given.object('emptyDir')
  const hostPath = given.object('hostPath')
  if (emptyDir !== undefined && hostPath !== undefined)
    given.problem('', 'is both emptyDir and hostPath', 'keep one')
  if (hostPath !== undefined) return readHostPath(hostPath, name)
  // A volume without any source is an emptyDir, by API defaulting.
  return emptyDir === undefined
    ? { name, kind: 'emptyDir', medium: 'disk', sizeLimit: undefined }
    : readEmptyDir(emptyDir, name)
}

function readEmptyDir(given: FieldReader, name: string): Volume {
  const medium = given.text('medium')
  if (medium !== undefined && medium !== 'Memory')
    given.problem('medium', `${medium} is not supported`, 'leave it out, or write Memory')
  const sizeLimit = readSizeLimit(given)
  given.close()
  return { name, kind: 'emptyDir', medium: medium === 'Memory' ? 'memory' : 'disk', sizeLimit }
}

function readSizeLimit(given: FieldReader): bigint | undefined {
  const value = given.raw('sizeLimit')
  if (value === undefined) return undefined
  try {
    // An object of a parser may have no way to be a text.
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    const amount = quantityValue(parseQuantity(text.trim()))
    if (amount >= 0n) return amount === 0n ? undefined : amount
  } catch (e) {
    if (!isKeelsonError(e)) throw e
  }
  given.problem('sizeLimit', 'is not a quantity', 'write for example 64Mi')
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

/** `..` could name another place than the one that was allowed. */
export const isPlainPath = (path: string): boolean => path.startsWith('/') && !path.split('/').includes('..')

export function readMounts(
  container: FieldReader,
  volumes: readonly Volume[],
  privileged: boolean,
): readonly VolumeMount[] {
  const paths = new Set<string>()
  return container.objects('volumeMounts').flatMap((given) => {
    given.refuse(refusedMountFields)
    const volume = given.text('name', { required: true })
    const path = given.text('mountPath', { required: true, maxLength: 4096 })
    const readOnly = given.flag('readOnly') ?? false
    const propagation =
      given.choice('mountPropagation', ['None', 'HostToContainer', 'Bidirectional']) ?? 'None'
    given.close()
    if (propagation === 'Bidirectional' && !privileged)
      given.problem('mountPropagation', 'Bidirectional needs a privileged container', 'set privileged: true')
    if (volume !== undefined && !volumes.some((v) => v.name === volume))
      given.problem('name', `there is no volume ${volume}`, 'name one of spec.volumes')
    if (path === undefined || volume === undefined) return []
    if (path.includes(':') || !isPlainPath(path.startsWith('/') ? path : `/${path}`))
      given.problem('mountPath', 'holds .. or a colon', 'write a plain path')
    if (paths.has(path)) given.problem('mountPath', `${path} is mounted twice`, 'keep one')
    paths.add(path)
    return [{ volume, path, readOnly, propagation }]
  })
}
