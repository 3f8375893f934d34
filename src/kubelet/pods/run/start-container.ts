// One container from image to running process. What keeps it from starting becomes a hold with the reason that kubectl
// shows; only an unreachable runtime is thrown.
import { asKeelsonError } from '../../../core/errors.js'
import { effectiveUser } from '../../../core/pod/spec/security.js'
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import type { DeepPartial, Image, PodSandboxConfig } from '../../../cri-api/api.js'
import { containerEnvironment } from '../../environment/container-environment.js'
import type { PodEvent } from '../../events/pod-events.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import { ensureImage } from '../../images/ensure-image.js'
import { podNames } from '../../names/decide/hostname.js'
import { hostNetworkHosts, podHosts } from '../../names/decide/hosts-file.js'
import { containerMounts } from '../../volumes/container-mounts.js'
import type { MountedVolume } from '../../volumes/context.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import { rootProblem } from '../decide/non-root.js'
import { currentSandbox, newestOf, type ObservedPod } from '../decide/observed.js'
import { podReferences } from '../decide/references.js'
import { containerConfig } from '../to-cri/container-config.js'
import {
  containerLogPath,
  hostsFile,
  logLinkName,
  logLinksDirectory,
  podLogDirectory,
  terminationLog,
} from '../to-cri/names.js'
import { asHold, fault } from './faults.js'

interface StartInput {
  readonly spec: PodSpec
  readonly container: ContainerSpec
  readonly attempt: number
  readonly observed: ObservedPod
  readonly sandbox: DeepPartial<PodSandboxConfig>
  /** Back-off of pulls, by image. */
  readonly pullBackoffs: ReadonlyMap<string, PullBackoff>
  /** A pull ended; with a back-off: it failed. */
  readonly onPulled: (image: string, backoff: PullBackoff | undefined) => void
  /** Aborted when the pod terminates: its image is not needed any more. */
  readonly pullSignal: AbortSignal
}

type Named = Pick<StartInput, 'spec' | 'container'>

const record = ({ spec, container }: Named, c: PodContext, event: Omit<PodEvent, 'container'>): void =>
  c.events.pod(spec.pod, { ...event, container })

/** What keeps the container from starting, also as the event that kubectl shows. */
const failed = (i: Named, c: PodContext, message: string): void =>
  record(i, c, { type: 'Warning', reason: 'Failed', message: `Error: ${message}` })

/** The container that runs now. */
interface Started {
  readonly containerId: string
}

export async function startContainer(
  i: StartInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<Started | Hold> {
  const image = await ensureImage(i, c, signal)
  if ('reason' in image) {
    failed(i, c, image.reason)
    return image
  }
  const { spec, container, attempt } = i
  const user = effectiveUser(spec.security, container.security)
  const imageUid = uidOf(image)
  const root =
    user.runAsNonRoot === true
      ? rootProblem({ runAsUser: user.runAsUser, imageUid, imageUser: image.username })
      : undefined
  if (root !== undefined) {
    failed(i, c, root)
    return fault(c, 'CreateContainerConfigError', root)
  }
  const sandbox = currentSandbox(i.observed)
  if (sandbox === undefined) throw new Error('a container is started without a sandbox')
  const podIPs = spec.hostNetwork ? c.hostIPs : sandbox.ips
  const { target } = container
  const targetId = target === undefined ? undefined : newestOf(i.observed, target)?.id
  if (target !== undefined && targetId === undefined) {
    const problem = `unable to find target container ${JSON.stringify(target)}`
    failed(i, c, problem)
    return fault(c, 'CreateContainerConfigError', problem)
  }
  // It came after the pod was prepared, and may refer to other objects.
  if (container.kind === 'ephemeral') c.objects?.register(spec.pod, podReferences(spec))
  const words = await containerEnvironment(spec, container, podIPs, c, signal)
  if (typeof words === 'string') {
    failed(i, c, words)
    return fault(c, 'CreateContainerConfigError', words)
  }
  const mounted = await withImages(i, c, signal)
  if ('reason' in mounted) {
    failed(i, c, mounted.reason)
    return mounted
  }
  const values = new Map(words.env.map(({ key, value }) => [key, value]))
  const mounts = await containerMounts(
    {
      spec,
      container,
      mounted,
      variable: (name) => values.get(name),
      canMakeAllReadOnly: c.canMakeAllReadOnly,
    },
    c,
  )
  if (typeof mounts === 'string') {
    failed(i, c, mounts)
    return fault(c, 'CreateContainerConfigError', mounts)
  }
  const config = containerConfig(spec, container, {
    words,
    mounts,
    targetId,
    hasHostsFile: spec.hostNetwork || podIPs.length > 0,
    paths: c.paths,
    attempt,
    imageRef: image.id,
    imageUid,
    imageUser: image.username,
    resources: c.planner.resources(spec, container.name),
    seccompDefault: c.seccompDefault,
  })
  const create = async (): Promise<Started | Hold> => {
    let containerId: string
    try {
      await makeFiles(i, podIPs, c)
      const options = { timeoutMs: c.timeoutMs, signal }
      const request = { podSandboxId: sandbox.id, config, sandboxConfig: i.sandbox }
      containerId = (await c.runtime.createContainer(request, options)).containerId
    } catch (e) {
      const hold = asHold(e, c, signal, 'CreateContainerError')
      failed(i, c, hold.message)
      return hold
    }
    record(i, c, { type: 'Normal', reason: 'Created', message: 'Container created' })
    return runCreated(containerId, i, c, signal)
  }
  // Only now: a pull that takes long must not keep others from starting.
  return c.starts.run(create, signal)
}

/** Volumes of the container; images that are mounted are pulled like its own, and known by their id. */
async function withImages(
  i: StartInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MountedVolume> | Hold> {
  const mounted = new Map(c.volumes.mounted(i.spec.pod.uid))
  for (const { volume } of i.container.mounts) {
    const found = mounted.get(volume)
    if (found === undefined || !('image' in found)) continue
    const { image, pullPolicy } = found
    const present = await ensureImage({ ...i, container: { ...i.container, image, pullPolicy } }, c, signal)
    if ('reason' in present) return present
    mounted.set(volume, { image: present.id, pullPolicy })
  }
  return mounted
}

/** An image without a user runs as root; one that names a user by word leaves the number to the runtime. */
const uidOf = ({ uid, username }: Image): bigint | undefined =>
  uid === undefined || uid.value < 0n ? (username === '' ? 0n : undefined) : uid.value

export async function runCreated(
  containerId: string,
  { spec, container, attempt }: Pick<StartInput, 'spec' | 'container' | 'attempt'>,
  c: PodContext,
  signal: AbortSignal,
): Promise<Started | Hold> {
  try {
    await c.runtime.startContainer({ containerId }, { timeoutMs: c.timeoutMs, signal })
  } catch (e) {
    const hold = asHold(e, c, signal, 'RunContainerError')
    // The runtime says the id, which is another one at each try: similar events must stay similar.
    failed({ spec, container }, c, hold.message.replaceAll(containerId, container.name))
    return hold
  }
  record({ spec, container }, c, { type: 'Normal', reason: 'Started', message: 'Container started' })
  const log = `${podLogDirectory(c.paths, spec.pod)}/${containerLogPath(container.name, attempt)}`
  const link = `${logLinksDirectory(c.paths)}/${logLinkName(spec.pod, container.name, containerId)}`
  // A convenience of log shippers: the container runs with or without it.
  await c.host
    .link(log, link)
    .catch((e: unknown) => c.log.warn('failed to link a container log', { error: asKeelsonError(e) }))
  return { containerId }
}

async function makeFiles(i: StartInput, podIPs: readonly string[], c: PodContext): Promise<void> {
  const { spec, container, attempt } = i
  const { uid } = spec.pod
  const hosts = spec.hostNetwork
    ? hostNetworkHosts(await c.nodeHosts(), spec.hostAliases)
    : podHosts(podIPs, podNames(spec, c.clusterDns.domain), spec.hostAliases)
  await c.host.writeFile(hostsFile(c.paths, uid), hosts, 0o644)
  await c.host.ensureFile(terminationLog(c.paths, uid, container.name, attempt), 0o666)
  await c.host.ensureDirectory(`${podLogDirectory(c.paths, spec.pod)}/${container.name}`, { mode: 0o755 })
}
