// A container's image: found, or pulled with the credentials that fit, with the events that kubectl shows.
import { asKeelsonError } from '../../core/errors.js'
import type { ContainerSpec, PodSpec } from '../../core/pod/spec/spec.js'
import { formatGoDuration } from '../../core/units/go-duration.js'
import type { DeepPartial, Image, PodSandboxConfig } from '../../cri-api/api.js'
import type { PodEvent } from '../events/pod-events.js'
import type { PodContext } from '../pods/context.js'
import type { Hold } from '../pods/decide/actions.js'
import { fault, isNoFault } from '../pods/run/faults.js'
import { rpcErrorText } from '../pods/run/runtime-text.js'
import { nameProblem, repositoryOf, withTag } from './decide/image-name.js'
import { decideImage, type PullBackoff, pullFailed } from './decide/image-pull.js'
import type { Credential } from './decide/keyring.js'

/** A pull may take as long as it makes progress; this ends one that does not. */
const pullTimeoutMs = 30 * 60_000

interface ImageRequest {
  readonly spec: PodSpec
  readonly container: ContainerSpec
  readonly sandbox: DeepPartial<PodSandboxConfig>
  /** Back-off of pulls, by image. */
  readonly pullBackoffs: ReadonlyMap<string, PullBackoff>
  /** A pull ended; with a back-off: it failed. */
  readonly onPulled: (image: string, backoff: PullBackoff | undefined) => void
  /** Aborted when the pod terminates: its image is not needed any more. */
  readonly pullSignal: AbortSignal
}

type Event = Omit<PodEvent, 'container'>

/** A hold: why there is no image for now. */
export async function ensureImage(
  i: ImageRequest,
  c: PodContext,
  signal: AbortSignal,
): Promise<Image | Hold> {
  const { image, pullPolicy } = i.container
  const record = (event: Event): void => c.events.pod(i.spec.pod, { ...event, container: i.container })
  const find = async (): Promise<Image | undefined> =>
    (await c.images.imageStatus({ image: { image: withTag(image) } }, { timeoutMs: c.timeoutMs, signal }))
      .image
  let present: Image | undefined
  try {
    // An image that is pulled in any case is not looked for, and neither is what is no name.
    if (pullPolicy !== 'Always' && nameProblem(image) === undefined) present = await find()
  } catch (e) {
    const error = asKeelsonError(e)
    if (isNoFault(error, signal)) throw e
    const message = `Failed to inspect image "${image}": ${rpcErrorText(error)}`
    record({ type: 'Warning', reason: 'InspectFailed', message })
    return fault(c, 'ImageInspectError', message)
  }
  const isAllowed =
    present === undefined ||
    c.pullRecords === undefined ||
    (await c.pullRecords.mayUse({ id: present.id, name: image, repository: repositoryOf(image) }, async () =>
      (await c.credentials.find(i.spec, image, signal)).flatMap((credential) => credential.secret ?? []),
    ))
  const step = decideImage({
    image,
    policy: pullPolicy,
    // As upstream: who may not use it does not learn that it is there.
    present: present !== undefined && isAllowed,
    backoff: i.pullBackoffs.get(image),
    nowNanos: c.clock.monotonicNanos(),
  })
  if (step.kind === 'hold') {
    record(heldEvent(image, step.hold))
    return step.hold
  }
  if (step.kind === 'use' && present !== undefined) {
    const message = `Container image "${image}" already present on machine`
    const checked = c.pullRecords === undefined ? '' : ' and can be accessed by the pod'
    record({ type: 'Normal', reason: 'Pulled', message: `${message}${checked}` })
    return present
  }
  record({ type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` })
  const times = await pull(i, c, signal)
  if ('reason' in times) {
    if (times.reason === 'ErrImagePull')
      record({
        type: 'Warning',
        reason: 'Failed',
        message: `Failed to pull image "${image}": ${times.message}`,
      })
    return times
  }
  const pulled = await find()
  if (pulled === undefined) return fault(c, 'ErrImagePull', `the image ${image} was pulled and is not there`)
  await c.pullRecords?.pulled({
    id: pulled.id,
    repository: repositoryOf(image),
    with: times.credential?.secret,
  })
  await c.pullRecords?.end(image)
  c.pullMetrics.pulled(Number(times.wholeNanos) / 1e9, pulled.size)
  const [took, whole] = [times.pullNanos, times.wholeNanos].map(formatMillis)
  record({
    type: 'Normal',
    reason: 'Pulled',
    message: `Successfully pulled image "${image}" in ${took} (${whole} including waiting). Image size: ${pulled.size} bytes.`,
  })
  return pulled
}

interface PullTimes {
  /** That was accepted; undefined: none was needed. */
  readonly credential: Credential | undefined
  readonly pullNanos: bigint
  readonly wholeNanos: bigint
}

async function pull(i: ImageRequest, c: PodContext, signal: AbortSignal): Promise<PullTimes | Hold> {
  const { image } = i.container
  const askedNanos = c.clock.monotonicNanos()
  await c.pullRecords?.begin(image)
  try {
    const credentials = await c.credentials.find(i.spec, image, i.pullSignal)
    const done = await c.pulls.run(async () => {
      const beganNanos = c.clock.monotonicNanos()
      if (!c.pullRate.tryTake(beganNanos)) throw new PullProblem('pull QPS exceeded')
      const credential = await tryEach(credentials, (one) => pullOnce(i, one, c), signal)
      return { credential, pullNanos: c.clock.monotonicNanos() - beganNanos }
    }, i.pullSignal)
    i.onPulled(image, undefined)
    return { ...done, wholeNanos: c.clock.monotonicNanos() - askedNanos }
  } catch (e) {
    await c.pullRecords?.end(image)
    if (i.pullSignal.aborted && !signal.aborted) return fault(c, 'PullCanceled', 'the pod terminates')
    if (!(e instanceof PullProblem)) throw e
    const failed = pullFailed(i.pullBackoffs.get(image), e.message, c.clock.monotonicNanos())
    i.onPulled(image, failed.backoff)
    return failed.hold
  }
}

/** Why an image could not be pulled, as people are to read it. */
class PullProblem extends Error {}

async function pullOnce(i: ImageRequest, credential: Credential | undefined, c: PodContext): Promise<void> {
  const request = {
    image: { image: withTag(i.container.image) },
    sandboxConfig: i.sandbox,
    ...(credential === undefined
      ? {}
      : { auth: { username: credential.username, password: credential.password } }),
  }
  await c.images.pullImage(request, { timeoutMs: pullTimeoutMs, signal: i.pullSignal })
}

/** One after the other until one is accepted, which is the result; all that went wrong where none is. */
async function tryEach(
  credentials: readonly Credential[],
  work: (credential: Credential | undefined) => Promise<void>,
  signal: AbortSignal,
): Promise<Credential | undefined> {
  const problems: string[] = []
  for (const credential of credentials.length === 0 ? [undefined] : credentials)
    try {
      await work(credential)
      return credential
    } catch (e) {
      const error = asKeelsonError(e)
      if (isNoFault(error, signal)) throw e
      problems.push(rpcErrorText(error))
    }
  throw new PullProblem(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
}

const formatMillis = (nanos: bigint): string => formatGoDuration((nanos / 1_000_000n) * 1_000_000n)

/** An image that is not even asked for. */
function heldEvent(image: string, { reason, message }: Hold): Event {
  switch (reason) {
    case 'ImagePullBackOff':
      return { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` }
    case 'ErrImageNeverPull':
      return { type: 'Warning', reason, message }
    default:
      return { type: 'Warning', reason: 'InspectFailed', message }
  }
}
