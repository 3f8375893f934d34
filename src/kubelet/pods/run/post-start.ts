// The postStart hook of a container that has just started. Nothing else of the pod is started before it is done; a container
// whose hook fails is ended.
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { runHook } from '../../hooks/run-hook.js'
import { faultRetryNanos } from '../../images/decide/image-pull.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import { currentSandbox, type ObservedPod } from '../decide/observed.js'
import { stopContainers } from './stop-containers.js'

interface PostStartInput {
  readonly spec: PodSpec
  readonly container: ContainerSpec
  readonly observed: ObservedPod
  /** Aborted when the pod terminates. */
  readonly podSignal: AbortSignal
}

/** Upstream waits without end; the pod's own end ends it. */
const longestHookMs = 24 * 60 * 60_000

export async function runPostStart(
  containerId: string,
  { spec, container, observed, podSignal }: PostStartInput,
  c: PodContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const hook = container.hooks.postStart
  if (hook === undefined) return undefined
  const { pod } = spec
  const { name, kind } = container
  const [podIP = ''] = spec.hostNetwork ? c.hostIPs : (currentSandbox(observed)?.ips ?? [])
  const problem = await runHook(hook, { pod, container, containerId, podIP }, c, longestHookMs, podSignal)
  // A pod that terminates ends its containers anyway.
  if (problem === undefined || podSignal.aborted) return undefined
  c.log.warn('postStart hook failed', { pod: `${pod.namespace}/${pod.name}`, container: name, problem })
  // Without the reason, which may hold what only the container should say.
  c.events.pod(pod, {
    type: 'Warning',
    reason: 'FailedPostStartHook',
    message: 'PostStartHook failed',
    container,
  })
  await stopContainers(
    {
      kind: 'stop-containers',
      targets: [{ id: containerId, name, kind, message: 'FailedPostStartHook' }],
      graceSeconds: spec.terminationGracePeriodSeconds,
      why: 'its postStart hook failed',
    },
    { spec, observed },
    c,
    signal,
  )
  const untilNanos = c.clock.monotonicNanos() + faultRetryNanos
  return { untilNanos, reason: 'PostStartHookError', message: problem }
}
