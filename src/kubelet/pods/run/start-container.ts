// One container from image to running process. What keeps it from starting becomes a hold with the reason that kubectl
// shows; only an unreachable runtime is thrown.
import { asKeelsonError, type KeelsonError } from '../../../core/errors.js'
import { effectiveUser } from '../../../core/pod/spec/security.js'
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import type { DeepPartial, Image, PodSandboxConfig } from '../../../cri-api/api.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import { decideImage, faultRetryNanos, pullFailed, rootProblem } from '../decide/image-pull.js'
import { currentSandbox, type ObservedPod } from '../decide/observed.js'
import { formatHosts } from '../decide/resolv-conf.js'
import type { Backoff } from '../decide/restart-backoff.js'
import { containerConfig } from '../to-cri/container-config.js'
import {
  containerLogPath,
  hostsFile,
  logLinkName,
  logLinksDirectory,
  podLogDirectory,
  terminationLog,
} from '../to-cri/names.js'
import { podHostname } from '../to-cri/sandbox-config.js'
import { isRuntimeUnreachable } from '../view/runtime-unreachable.js'

/** A pull may take as long as it makes progress; this ends one that does not. */
const pullTimeoutMs = 30 * 60_000

interface StartInput {
  readonly spec: PodSpec
  readonly container: ContainerSpec
  readonly attempt: number
  readonly observed: ObservedPod
  readonly sandbox: DeepPartial<PodSandboxConfig>
  /** Back-off of pulls, by image. */
  readonly pullBackoffs: ReadonlyMap<string, Backoff>
  /** A pull ended; with a back-off: it failed. */
  readonly onPulled: (image: string, backoff: Backoff | undefined) => void
  /** Aborted when the pod terminates: its image is not needed any more. */
  readonly pullSignal: AbortSignal
}

/** Undefined: it runs. */
export async function startContainer(
  i: StartInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const image = await getImage(i, c, signal)
  if ('reason' in image) return image
  const { spec, container, attempt } = i
  const user = effectiveUser(spec.security, container.security)
  const imageUid = uidOf(image)
  const root =
    user.runAsNonRoot === true
      ? rootProblem({ runAsUser: user.runAsUser, imageUid, imageUser: image.username })
      : undefined
  if (root !== undefined) return fault(c, 'CreateContainerConfigError', root)
  const sandbox = currentSandbox(i.observed)
  if (sandbox === undefined) throw new Error('a container is started without a sandbox')
  const podIPs = spec.hostNetwork ? c.hostIPs : sandbox.ips
  const config = containerConfig(spec, container, {
    paths: c.paths,
    attempt,
    imageRef: image.id,
    imageUid,
    imageUser: image.username,
    nodeName: c.nodeName,
    hostIPs: c.hostIPs,
    podIPs,
    resources: c.planner.resources(spec, container.name),
    seccompDefault: c.seccompDefault,
  })
  const create = async (): Promise<Hold | undefined> => {
    let containerId: string
    try {
      await makeFiles(i, podIPs, c)
      const options = { timeoutMs: c.timeoutMs, signal }
      const request = { podSandboxId: sandbox.id, config, sandboxConfig: i.sandbox }
      containerId = (await c.runtime.createContainer(request, options)).containerId
    } catch (e) {
      return asHold(e, c, signal, 'CreateContainerError')
    }
    return runCreated(containerId, i, c, signal)
  }
  // Only now: a pull that takes long must not keep others from starting.
  return c.starts.run(create, signal)
}

/** An image without a user runs as root; one that names a user by word leaves the number to the runtime. */
const uidOf = ({ uid, username }: Image): bigint | undefined =>
  uid === undefined || uid.value < 0n ? (username === '' ? 0n : undefined) : uid.value

export async function runCreated(
  containerId: string,
  { spec, container, attempt }: Pick<StartInput, 'spec' | 'container' | 'attempt'>,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  try {
    await c.runtime.startContainer({ containerId }, { timeoutMs: c.timeoutMs, signal })
  } catch (e) {
    return asHold(e, c, signal, 'RunContainerError')
  }
  const log = `${podLogDirectory(c.paths, spec.pod)}/${containerLogPath(container.name, attempt)}`
  const link = `${logLinksDirectory(c.paths)}/${logLinkName(spec.pod, container.name, containerId)}`
  // A convenience of log shippers: the container runs with or without it.
  await c.host
    .link(log, link)
    .catch((e: unknown) => c.log.warn('failed to link a container log', { error: asKeelsonError(e) }))
  return undefined
}

async function makeFiles(i: StartInput, podIPs: readonly string[], c: PodContext): Promise<void> {
  const { spec, container, attempt } = i
  const { uid } = spec.pod
  if (!spec.hostNetwork)
    await c.host.writeFile(
      hostsFile(c.paths, uid),
      formatHosts(podIPs, podHostname(spec), spec.hostAliases),
      0o644,
    )
  await c.host.ensureFile(terminationLog(c.paths, uid, container.name, attempt), 0o666)
  await c.host.ensureDirectory(`${podLogDirectory(c.paths, spec.pod)}/${container.name}`, { mode: 0o755 })
}

async function getImage(i: StartInput, c: PodContext, signal: AbortSignal): Promise<Image | Hold> {
  const { container, pullBackoffs } = i
  const { image, pullPolicy } = container
  const find = async (): Promise<Image | undefined> =>
    (await c.images.imageStatus({ image: { image } }, { timeoutMs: c.timeoutMs, signal })).image
  const present = await find()
  const step = decideImage({
    image,
    policy: pullPolicy,
    present: present !== undefined,
    backoff: pullBackoffs.get(image),
    nowNanos: c.clock.monotonicNanos(),
  })
  if (step.kind === 'hold') return step.hold
  if (step.kind === 'use' && present !== undefined) return present
  try {
    c.log.info('pulling image', { image, pod: i.spec.pod.name })
    const request = { image: { image }, sandboxConfig: i.sandbox }
    const options = { timeoutMs: pullTimeoutMs, signal: i.pullSignal }
    await c.pulls.run(() => c.images.pullImage(request, options), i.pullSignal)
    i.onPulled(image, undefined)
  } catch (e) {
    if (i.pullSignal.aborted && !signal.aborted) return fault(c, 'ErrImagePull', 'the pod terminates')
    const error = asKeelsonError(e)
    if (isNoFault(error, signal)) throw e
    const failed = pullFailed(pullBackoffs.get(image), error.message, c.clock.monotonicNanos())
    i.onPulled(image, failed.backoff)
    return failed.hold
  }
  return (await find()) ?? fault(c, 'ErrImagePull', `the image ${image} was pulled and is not there`)
}

/** Not a fault of this container: thrown on. */
const isNoFault = (error: KeelsonError, signal: AbortSignal): boolean =>
  signal.aborted || error.code === 'internal.unexpected' || isRuntimeUnreachable(error)

const fault = (c: PodContext, reason: string, message: string): Hold => ({
  untilNanos: c.clock.monotonicNanos() + faultRetryNanos,
  reason,
  message,
})

function asHold(e: unknown, c: PodContext, signal: AbortSignal, reason: string): Hold {
  const error = asKeelsonError(e)
  if (isNoFault(error, signal)) throw e
  return fault(c, reason, error.message)
}
