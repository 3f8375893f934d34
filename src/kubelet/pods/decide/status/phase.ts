// Whether a pod is over and how.

import type { PodSpec } from '../../../../core/pod/spec/spec.js'
import { currentSandbox, isOver, newestOf, type ObservedPod } from '../observed.js'
import { restartAllSources, restartsAfterExit } from '../restart-rules.js'

type FinalPhase = 'Succeeded' | 'Failed'

/** Undefined: the pod goes on. */
export function finalPhase(spec: PodSpec, observed: ObservedPod): FinalPhase | undefined {
  if (restartAllSources(spec, observed).length > 0) return undefined
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
  const ends = spec.containers.map((container) => ({
    container,
    end: newestOf(observed, container.name),
  }))
  const allOver = ends.every(
    ({ container, end }) => end !== undefined && isOver(end) && !restartsAfterExit(spec, container, end),
  )
  if (allOver || isFinishedWithoutSandbox(spec, observed))
    return ends.every(({ end }) => end !== undefined && isOver(end) && end.exitCode === 0)
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
