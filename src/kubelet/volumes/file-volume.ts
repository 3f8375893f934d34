// Volumes whose files the kubelet writes: config maps, secrets, fields of the pod, and projections of several of them. Written
// again at each refresh, which changes nothing where the content is the same.
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { Projection, Volume } from '../../core/pod/spec/volume.js'
import { noResources } from '../../core/units/resource-list.js'
import type { ProjectedFile } from '../../ports/pods/volume-host.js'
import type { MountedVolume, MountRequest } from './context.js'
import { cleanFilePath } from './decide/file-path.js'
import {
  filesOfConfigMap,
  filesOfPod,
  filesOfSecret,
  type VolumeFile,
  volumeProblem,
} from './decide/files-of-volume.js'
import { nestedMountPoints } from './decide/nested-mount-points.js'
import { tokenFile } from './decide/token-owner.js'
import { volumeDirectory } from './paths.js'

type FileVolume = Extract<Volume, { readonly kind: 'configMap' | 'secret' | 'downwardAPI' | 'projected' }>

const plugins = {
  configMap: 'configmap',
  secret: 'secret',
  downwardAPI: 'downward-api',
  projected: 'projected',
} as const

export const isFileVolume = (volume: Volume): volume is FileVolume => volume.kind in plugins

export async function mountFileVolume(volume: FileVolume, m: MountRequest): Promise<MountedVolume> {
  const { spec, c } = m
  // Before anything is made: a pod that waits for its config map has no half of a volume.
  const files = await filesOf(volume, m)
  const directory = volumeDirectory(c.paths, spec.pod.uid, plugins[volume.kind], volume.name)
  await c.host.ensureDirectory(directory, { mode: 0o777 })
  // Only config maps may reach a disk.
  if (volume.kind !== 'configMap') await c.volumeHost.mountTmpfs(directory, undefined)
  for (const path of nestedMountPoints(spec, volume.name))
    await c.volumeHost.makeInside(directory, path, 0o755)
  const { fsGroup } = spec.security
  const group = fsGroup === undefined ? undefined : { gid: fsGroup, readOnly: true }
  await c.volumeHost.writeFiles(directory, projectedFiles(files), group)
  return { hostPath: directory, readOnly: true }
}

/** Of two files at one path the later one counts. */
function projectedFiles(files: readonly VolumeFile[]): readonly ProjectedFile[] {
  const byPath = new Map<string, ProjectedFile>()
  for (const { path, content, mode, owner } of files) {
    const data = 'text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64')
    const clean = cleanFilePath(path)
    byPath.set(clean, { path: clean, data, mode, owner })
  }
  return [...byPath.values()]
}

function filesOf(volume: FileVolume, m: MountRequest): Promise<readonly VolumeFile[]> {
  if (volume.kind === 'projected') return filesOfProjections(volume.sources, volume.defaultMode, m)
  return filesOfSource(volume, volume.defaultMode, m)
}

/** Every problem is named, not only the first. */
async function filesOfProjections(
  sources: readonly Projection[],
  defaultMode: number,
  m: MountRequest,
): Promise<readonly VolumeFile[]> {
  const files: VolumeFile[] = []
  const problems: Error[] = []
  for (const source of sources)
    try {
      files.push(...(await filesOfSource(source, defaultMode, m)))
    } catch (e) {
      m.signal.throwIfAborted()
      problems.push(e instanceof Error ? e : new Error(String(e)))
    }
  const [first, ...more] = problems
  if (first === undefined) return files
  if (more.length === 0) throw first
  throw volumeProblem(`[${problems.map(({ message }) => message).join(', ')}]`)
}

type Source = Projection | Exclude<FileVolume, { readonly kind: 'projected' }>

async function filesOfSource(
  source: Source,
  defaultMode: number,
  { spec, c, signal }: MountRequest,
): Promise<readonly VolumeFile[]> {
  const { namespace } = spec.pod
  if (source.kind === 'downwardAPI') {
    const asksForAmounts = source.items.some(({ value }) => 'resource' in value)
    return filesOfPod(source.items, spec, defaultMode, asksForAmounts ? await c.allocatable() : noResources)
  }
  const { objects } = c
  if (objects === undefined)
    throw volumeProblem(`cannot read a ${source.kind} because kube client is not configured`)
  switch (source.kind) {
    case 'configMap': {
      const found = await objects.configMap(namespace, source.object, signal)
      return filesOfConfigMap({ source, found, defaultMode })
    }
    case 'secret': {
      const found = await objects.secret(namespace, source.object, signal)
      return filesOfSecret({ source, found, defaultMode })
    }
    case 'serviceAccountToken': {
      const token = await objects.token(tokenQuestion(spec, source), signal)
      return [{ path: source.path, content: { text: token }, ...tokenFile(spec, defaultMode) }]
    }
    case 'clusterTrustBundle': {
      const text = await objects.trustAnchors(source, signal)
      return [{ path: source.path, content: { text }, ...tokenFile(spec, defaultMode) }]
    }
  }
}

const tokenQuestion = (
  { pod, serviceAccountName }: PodSpec,
  { audience, expirationSeconds }: Extract<Projection, { readonly kind: 'serviceAccountToken' }>,
) => ({ pod, serviceAccount: serviceAccountName, audience, expirationSeconds })
