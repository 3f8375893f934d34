// Whether a pod is over and how, and whether one of its containers runs again, by the restart policy.

import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import { currentSandbox, isOver, newestOf, type ObservedContainer, type ObservedPod } from './observed.js'

type FinalPhase = 'Succeeded' | 'Failed'

export function restartsAfterExit(
  { restartPolicy }: Pick<PodSpec, 'restartPolicy'>,
  { kind }: Pick<ContainerSpec, 'kind'>,
  { exitCode }: Pick<ObservedContainer, 'exitCode'>,
): boolean {
  if (kind === 'sidecar') return true
  if (kind === 'ephemeral') return false
  // For an init container Always means until it ends well.
  if (kind === 'init') return exitCode !== 0 && restartPolicy !== 'Never'
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)
}

/** Undefined: the pod goes on. */
export function finalPhase(spec: PodSpec, observed: ObservedPod): FinalPhase | undefined {
  if (spec.restartPolicy === 'Always') return undefined
  const ends = spec.containers.map((container) => newestOf(observed, container.name))
  const failedInit = spec.initContainers.some((container) => {
    const newest = newestOf(observed, container.name)
    return (
      container.kind === 'init' &&
      newest !== undefined &&
      isOver(newest) &&
      newest.exitCode !== 0 &&
      !restartsAfterExit(spec, container, newest)
    )
  })
  if (failedInit) return 'Failed'
  const allOver = ends.every(
    (end, i) =>
      end !== undefined &&
      isOver(end) &&
      !restartsAfterExit(spec, spec.containers[i] ?? { kind: 'app' }, end),
  )
  if (allOver || isFinishedWithoutSandbox(spec, observed))
    return ends.every((end) => end !== undefined && isOver(end) && end.exitCode === 0)
      ? 'Succeeded'
      : 'Failed'
  return undefined
}

/** A pod that never restarts has no second sandbox: when the first one dies after something ran, that was it. */
const isFinishedWithoutSandbox = (spec: PodSpec, observed: ObservedPod): boolean =>
  spec.restartPolicy === 'Never' &&
  observed.sandboxes.length > 0 &&
  currentSandbox(observed) === undefined &&
  observed.containers.some((container) => container.state !== 'created')
