// A persistent volume by way of its claim: paths of this node, the only kinds that need neither an attacher nor a driver.
import type { PersistentVolume, PersistentVolumeClaim } from '../../core/kube/objects.js'
import { hostPathTypes, type Volume } from '../../core/pod/spec/volume.js'
import { isPlainPath } from '../../core/pod/spec/volumes.js'
import { isSelected } from '../admission/decide/node-affinity.js'
import type { MountedVolume, MountRequest } from './context.js'
import { volumeProblem } from './decide/files-of-volume.js'
import { checkHostPath } from './host-path.js'
import { volumeDirectory } from './paths.js'

type Claim = Extract<Volume, { readonly kind: 'persistentVolumeClaim' }>

const protection = 'kubernetes.io/pvc-protection'

export async function mountClaim(volume: Claim, m: MountRequest): Promise<MountedVolume> {
  const { pv, readOnly } = await readVolume(volume, m)
  const { hostPath, local } = pv.spec ?? {}
  checkAffinity(pv, m.c.nodeLabels())
  if (pv.spec?.volumeMode === 'Block')
    throw volumeProblem(`volume ${pv.metadata?.name} has volumeMode Block, but is specified in volumeMounts`)
  if (hostPath !== undefined) {
    const type = hostPathTypes.find((known) => known === hostPath.type)
    await checkHostPath(plain(hostPath.path), type, m.c.host)
    return { hostPath: hostPath.path, readOnly }
  }
  if (local !== undefined) return mountLocal(plain(local.path), pv.metadata?.name ?? '', readOnly, m)
  throw volumeProblem(`no volume plugin matched name: ${pluginOf(pv)}`)
}

/** Pods can be bound to a node without a scheduler, and the path of another node's disk may be there too. */
function checkAffinity({ metadata, spec }: PersistentVolume, labels: Readonly<Record<string, string>>): void {
  const required = spec?.nodeAffinity?.required
  if (required === undefined || isSelected(required, { name: '', labels })) return
  throw volumeProblem('no matching NodeSelectorTerms', {
    step: 'NodeAffinity check',
    volume: metadata?.name ?? '',
  })
}

const plain = (path: string): string => {
  if (isPlainPath(path)) return path
  throw volumeProblem(`invalid path: must be absolute without '..': ${path}`)
}

/** Of a volume that this node cannot mount: its one field that names a kind. */
function pluginOf({ spec = {} }: PersistentVolume): string {
  const csi = (spec as Readonly<Record<string, unknown>>)['csi']
  if (csi !== undefined) return 'kubernetes.io/csi'
  const common = new Set([
    'capacity',
    'accessModes',
    'claimRef',
    'storageClassName',
    'mountOptions',
    'nodeAffinity',
  ])
  const known = ['persistentVolumeReclaimPolicy', 'volumeMode', 'volumeAttributesClassName']
  return `kubernetes.io/${Object.keys(spec).find((key) => !common.has(key) && !known.includes(key)) ?? 'unknown'}`
}

async function readVolume(
  { claimName, name, readOnly }: Claim,
  { spec, c, signal }: MountRequest,
): Promise<{ readonly pv: PersistentVolume; readonly readOnly: boolean }> {
  const { objects } = c
  if (objects === undefined) throw volumeProblem('cannot read a claim because kube client is not configured')
  const { pod } = spec
  // The cluster names the claim of an ephemeral volume after pod and volume, and it belongs to the pod.
  const wanted = claimName ?? `${pod.name}-${name}`
  const claim = await objects.claim(pod.namespace, wanted, signal)
  if (claim === undefined)
    throw volumeProblem(`failed to fetch PVC from API server: persistentvolumeclaims "${wanted}" not found`)
  const volumeName = boundVolume(claim, claimName === undefined ? pod.uid : undefined)
  const pv = await objects.persistentVolume(volumeName, signal)
  if (pv === undefined)
    throw volumeProblem(
      `failed to fetch PV ${volumeName} from API server: persistentvolumes "${volumeName}" not found`,
    )
  if (pv.spec?.claimRef?.uid !== claim.metadata?.uid)
    throw volumeProblem(`found PV object ${volumeName} but it is bound to another claim`)
  return { pv, readOnly }
}

function boundVolume(
  { metadata, spec, status }: PersistentVolumeClaim,
  ownerUid: string | undefined,
): string {
  const isOwned = metadata?.ownerReferences?.some(
    ({ uid, controller }) => uid === ownerUid && controller === true,
  )
  if (ownerUid !== undefined && isOwned !== true)
    throw volumeProblem(`PVC ${metadata?.namespace}/${metadata?.name} was not created for the pod`)
  if (metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(protection) !== true)
    throw volumeProblem('PVC is being deleted')
  if (status?.phase !== 'Bound') throw volumeProblem('PVC is not bound')
  if (spec?.volumeName === undefined || spec.volumeName === '')
    throw volumeProblem('PVC has empty pvc.Spec.VolumeName')
  return spec.volumeName
}

/** As a mount of the pod's own: the pod can end without touching what others use. */
async function mountLocal(
  path: string,
  name: string,
  readOnly: boolean,
  { spec, c }: MountRequest,
): Promise<MountedVolume> {
  if ((await c.host.kindOf(path)) !== 'directory') throw volumeProblem(`path "${path}" does not exist`)
  const directory = volumeDirectory(c.paths, spec.pod.uid, 'local-volume', name)
  await c.volumeHost.bind(path, directory)
  const { fsGroup, fsGroupChangePolicy } = spec.security
  if (fsGroup !== undefined && !readOnly)
    await c.volumeHost.setGroup(directory, {
      gid: fsGroup,
      readOnly: false,
      onlyOnRootMismatch: fsGroupChangePolicy === 'OnRootMismatch',
    })
  return { hostPath: directory, readOnly }
}
