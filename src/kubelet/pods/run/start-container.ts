// One container from image to running process. What keeps it from starting becomes a hold with the reason that kubectl
// shows; only an unreachable runtime is thrown.
import { asKeelsonError, type KeelsonError } from '../../../core/errors.js'
import { effectiveUser } from '../../../core/pod/spec/security.js'
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../../core/units/go-duration.js'
import type { DeepPartial, Image, PodSandboxConfig } from '../../../cri-api/api.js'
import { containerEnvironment } from '../../environment/container-environment.js'
import type { PodEvent } from '../../events/pod-events.js'
import { podNames } from '../../names/decide/hostname.js'
import { hostNetworkHosts, podHosts } from '../../names/decide/hosts-file.js'
import { containerMounts } from '../../volumes/container-mounts.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import { decideImage, faultRetryNanos, pullFailed, rootProblem } from '../decide/image-pull.js'
import { currentSandbox, type ObservedPod } from '../decide/observed.js'
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
import { isRuntimeUnreachable } from '../view/runtime-unreachable.js'
import { rpcErrorText, runtimeText } from './runtime-text.js'

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

type Named = Pick<StartInput, 'spec' | 'container'>

const record = ({ spec, container }: Named, c: PodContext, event: Omit<PodEvent, 'container'>): void =>
  c.events.pod(spec.pod, { ...event, container })

/** What keeps the container from starting, also as the event that kubectl shows. */
const failed = (i: Named, c: PodContext, message: string): void =>
  record(i, c, { type: 'Warning', reason: 'Failed', message: `Error: ${message}` })

/** Undefined: it runs. */
export async function startContainer(
  i: StartInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const image = await getImage(i, c, signal)
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
  const words = await containerEnvironment(spec, container, podIPs, c, signal)
  if (typeof words === 'string') {
    failed(i, c, words)
    return fault(c, 'CreateContainerConfigError', words)
  }
  const values = new Map(words.env.map(({ key, value }) => [key, value]))
  const mounts = await containerMounts(
    {
      spec,
      container,
      mounted: c.volumes.mounted(spec.pod.uid),
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
    hasHostsFile: spec.hostNetwork || podIPs.length > 0,
    paths: c.paths,
    attempt,
    imageRef: image.id,
    imageUid,
    imageUser: image.username,
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
  return undefined
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
  if (step.kind === 'hold') {
    record(i, c, heldEvent(image, step.hold))
    return step.hold
  }
  if (step.kind === 'use' && present !== undefined) {
    const message = `Container image "${image}" already present on machine and can be accessed by the pod`
    record(i, c, { type: 'Normal', reason: 'Pulled', message })
    return present
  }
  const asked = c.clock.monotonicNanos()
  let began = asked
  try {
    record(i, c, { type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` })
    const request = { image: { image }, sandboxConfig: i.sandbox }
    const options = { timeoutMs: pullTimeoutMs, signal: i.pullSignal }
    await c.pulls.run(() => {
      began = c.clock.monotonicNanos()
      return c.images.pullImage(request, options)
    }, i.pullSignal)
    i.onPulled(image, undefined)
  } catch (e) {
    if (i.pullSignal.aborted && !signal.aborted) return fault(c, 'ErrImagePull', 'the pod terminates')
    const error = asKeelsonError(e)
    if (isNoFault(error, signal)) throw e
    record(i, c, {
      type: 'Warning',
      reason: 'Failed',
      message: `Failed to pull image "${image}": ${rpcErrorText(error)}`,
    })
    const { backoff, hold } = pullFailed(
      pullBackoffs.get(image),
      rpcErrorText(error),
      c.clock.monotonicNanos(),
    )
    i.onPulled(image, backoff)
    return hold
  }
  const ended = c.clock.monotonicNanos()
  const pulled = await find()
  if (pulled === undefined) return fault(c, 'ErrImagePull', `the image ${image} was pulled and is not there`)
  const [took, whole] = [ended - began, ended - asked].map(formatMillis)
  record(i, c, {
    type: 'Normal',
    reason: 'Pulled',
    message: `Successfully pulled image "${image}" in ${took} (${whole} including waiting). Image size: ${pulled.size} bytes.`,
  })
  return pulled
}

const formatMillis = (nanos: bigint): string => formatGoDuration((nanos / 1_000_000n) * 1_000_000n)

/** An image that is not even asked for. */
function heldEvent(image: string, { reason, message }: Hold): Omit<PodEvent, 'container'> {
  switch (reason) {
    case 'ImagePullBackOff':
      return { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` }
    case 'ErrImageNeverPull':
      return { type: 'Warning', reason, message }
    default:
      return { type: 'Warning', reason: 'InspectFailed', message }
  }
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
  return fault(c, reason, runtimeText(error))
}
