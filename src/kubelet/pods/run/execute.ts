// Carries out the actions of a pod's turn, one after the other. Thin: each is a call or two.
import { asKeelsonError } from '../../../core/errors.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { allContainerSpecs } from '../../../core/pod/spec/spec.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import type { PodContext } from '../context.js'
import type { Hold, PodAction } from '../decide/actions.js'
import { newestOf, type ObservedPod } from '../decide/observed.js'
import { runPostStart } from './post-start.js'
import { forgetContainers, forgetPod, preparePod, releasePod } from './prepare.js'
import { resizePod } from './resize.js'
import { rpcErrorText } from './runtime-text.js'
import { runSandbox, sandboxRequest } from './sandbox.js'
import { runCreated, startContainer } from './start-container.js'
import { orGone, stopContainers } from './stop-containers.js'

interface ActInput {
  readonly spec: PodSpec | undefined
  readonly manifest: string
  readonly observed: ObservedPod
  readonly pullBackoffs: ReadonlyMap<string, PullBackoff>
  /** A pull ended; with a back-off: it failed. */
  readonly onPulled: (image: string, backoff: PullBackoff | undefined) => void
  readonly pullSignal: AbortSignal
}

/** A hold that the action ran into; for the sandbox its message. */
export async function act(
  action: PodAction,
  i: ActInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const options = { timeoutMs: c.timeoutMs, signal }
  switch (action.kind) {
    case 'prepare':
      await preparePod(wanted(i), c, signal)
      return undefined
    case 'run-sandbox': {
      if (action.attempt > 0) c.events.pod(wanted(i).pod, sandboxChanged)
      await orEvent(runSandbox(wanted(i), action.attempt, i.manifest, c, signal), i, c, {
        reason: 'FailedCreatePodSandBox',
        doing: 'Failed to create pod sandbox',
      })
      return undefined
    }
    case 'start-container': {
      const attempt = i.observed.sandboxes[0]?.attempt ?? 0
      const { config: sandbox } = await sandboxRequest(wanted(i), attempt, i.manifest, c)
      const input = { ...startInput(i, action.name), attempt: action.attempt, sandbox }
      return withPostStart(await startContainer(input, c, signal), input, c, signal)
    }
    case 'start-created': {
      const attempt = newestOf(i.observed, action.name)?.attempt ?? 0
      const input = { ...startInput(i, action.name), attempt }
      return withPostStart(await runCreated(action.id, input, c, signal), input, c, signal)
    }
    case 'resize':
      return resizePod(wanted(i), i.observed, c, signal)
    case 'stop-containers':
      await orEvent(stopContainers(action, i, c, signal), i, c, failedKill)
      return undefined
    case 'stop-sandbox':
      await orEvent(orGone(c.runtime.stopPodSandbox({ podSandboxId: action.id }, options)), i, c, failedKill)
      return undefined
    case 'remove-container':
      await orGone(c.runtime.removeContainer({ containerId: action.id }, options))
      await forgetContainers(i.observed, (container) => container.id === action.id, c)
      return undefined
    case 'remove-sandbox':
      await orGone(c.runtime.removePodSandbox({ podSandboxId: action.id }, options))
      await forgetContainers(i.observed, (container) => container.sandboxId === action.id, c)
      return undefined
    case 'release':
      await releasePod(i.observed.uid, c, signal)
      return undefined
    case 'forget':
      await forgetPod(i.spec?.pod ?? i.observed, c, signal)
      return undefined
  }
}

const sandboxChanged = {
  type: 'Normal',
  reason: 'SandboxChanged',
  message: 'Pod sandbox changed, it will be killed and re-created.',
} as const
const failedKill = { reason: 'FailedKillPod', doing: 'error killing pod' } as const

/** A failure is an event of the pod, and stays a failure. */
async function orEvent(
  work: Promise<unknown>,
  { spec, observed, pullSignal }: ActInput,
  c: PodContext,
  { reason, doing }: { readonly reason: string; readonly doing: string },
): Promise<void> {
  try {
    await work
  } catch (e) {
    // A kubelet that ends, or a pod that does, has only given up.
    if (!pullSignal.aborted || reason === failedKill.reason) {
      const message = `${doing}: ${rpcErrorText(asKeelsonError(e))}`
      c.events.pod(spec?.pod ?? observed, { type: 'Warning', reason, message })
    }
    throw e
  }
}

function wanted({ spec }: ActInput): PodSpec {
  if (spec === undefined) throw new Error('an action that needs a spec, for a pod without one')
  return spec
}

const startInput = (i: ActInput, name: string) => ({
  ...i,
  spec: wanted(i),
  container: containerOf(i, name),
})

/** Not among the starts that are limited: a hook may last as long as the pod. */
async function withPostStart(
  started: Awaited<ReturnType<typeof startContainer>>,
  i: ReturnType<typeof startInput>,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  if ('reason' in started) return started
  return runPostStart(started.containerId, { ...i, podSignal: i.pullSignal }, c, signal)
}

function containerOf(i: ActInput, name: string) {
  const found = allContainerSpecs(wanted(i)).find((container) => container.name === name)
  if (found === undefined) throw new Error(`the pod has no container ${name}`)
  return found
}
