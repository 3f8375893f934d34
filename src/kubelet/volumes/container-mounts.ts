// The mounts of one container: where each volume is, parts of volumes mounted safely beforehand, and how each is mounted.
import { asKeelsonError, isKeelsonError } from '../../core/errors.js'
import type { ContainerSpec, PodSpec } from '../../core/pod/spec/spec.js'
import type { VolumeMount } from '../../core/pod/spec/volume.js'
import type { MountedVolume, VolumeContext } from './context.js'
import { volumeProblem } from './decide/files-of-volume.js'
import { subPathOf } from './decide/sub-path.js'
import { subPathTarget } from './paths.js'

export interface ContainerMount extends Pick<VolumeMount, 'path' | 'propagation'> {
  readonly source: { readonly hostPath: string } | { readonly image: string; readonly subPath: string }
  readonly readOnly: boolean
  readonly recursiveReadOnly: boolean
}

interface ContainerMountsInput {
  readonly spec: PodSpec
  readonly container: ContainerSpec
  readonly mounted: ReadonlyMap<string, MountedVolume>
  /** Variables of the container. */
  readonly variable: (name: string) => string | undefined
  /** Whether the runtime can make what is mounted below a mount read-only too. */
  readonly canMakeAllReadOnly: () => Promise<boolean>
}

/** A text: why the container cannot be configured. */
export async function containerMounts(
  i: ContainerMountsInput,
  c: Pick<VolumeContext, 'volumeHost' | 'paths' | 'log'>,
): Promise<readonly ContainerMount[] | string> {
  try {
    const mounts: ContainerMount[] = []
    for (const [index, mount] of i.container.mounts.entries()) mounts.push(await mountOf(mount, index, i, c))
    return mounts
  } catch (e) {
    if (isKeelsonError(e) && e.code === 'pod.volume') return e.message
    throw e
  }
}

async function mountOf(
  mount: VolumeMount,
  index: number,
  i: ContainerMountsInput,
  c: Pick<VolumeContext, 'volumeHost' | 'paths' | 'log'>,
): Promise<ContainerMount> {
  const volume = i.mounted.get(mount.volume)
  if (volume === undefined)
    throw volumeProblem(`cannot find volume "${mount.volume}" to mount into container "${i.container.name}"`)
  const { path, propagation } = mount
  const recursiveReadOnly = await resolveRecursive(mount, i)
  const subPath = subPathOf(mount, i.variable)
  if ('image' in volume)
    return {
      path,
      propagation,
      source: { image: volume.image, subPath: subPath ?? '' },
      readOnly: true,
      recursiveReadOnly,
    }
  const hostPath =
    subPath === undefined ? volume.hostPath : await prepare(volume.hostPath, subPath, mount, index, i, c)
  const readOnly = mount.readOnly || volume.readOnly
  return { path, propagation, source: { hostPath }, readOnly, recursiveReadOnly }
}

async function prepare(
  volumePath: string,
  subPath: string,
  { volume }: VolumeMount,
  index: number,
  { spec, container }: ContainerMountsInput,
  c: Pick<VolumeContext, 'volumeHost' | 'paths' | 'log'>,
): Promise<string> {
  const target = subPathTarget(c.paths, spec.pod.uid, { volume, container: container.name, index })
  try {
    await c.volumeHost.prepareSubPath({ volumePath, subPath, target })
    return target
  } catch (e) {
    // Not in the status of the pod: details would tell its owner about files of the host.
    c.log.warn('failed to prepare a subPath', {
      pod: `${spec.pod.namespace}/${spec.pod.name}`,
      container: container.name,
      volume,
      error: asKeelsonError(e),
    })
    throw volumeProblem(
      `failed to prepare subPath for volumeMount "${volume}" of container "${container.name}"`,
    )
  }
}

async function resolveRecursive(
  { recursiveReadOnly, volume }: VolumeMount,
  { canMakeAllReadOnly }: ContainerMountsInput,
): Promise<boolean> {
  if (recursiveReadOnly === 'Disabled') return false
  const can = await canMakeAllReadOnly()
  if (!can && recursiveReadOnly === 'Enabled')
    throw volumeProblem(
      `failed to resolve recursive read-only mode: volume "${volume}" requested recursive read-only mode, but it is not supported by the runtime`,
    )
  return can
}
