// Resources of running containers that differ from the spec: when they are changed, and what came of it.
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { Hold } from './actions.js'
import { logEffect, type Moment, type PodStep } from './pod-event.js'
import type { PodState } from './pod-state.js'
import { canonicalJson } from './static-pod.js'

/** Once per set of values: a runtime that shows other numbers than it was given must not be asked for ever. */
export function mayResize({ spec, life, prepared, resize }: PodState, at: Moment): boolean {
  if (spec === undefined || life.phase !== 'active' || !prepared) return false
  if (resize.appliedFor === resourcesKey(spec)) return false
  return resize.hold === undefined || resize.hold.untilNanos <= at.monotonicNanos
}

export function endResize(state: PodState, hold: Hold | undefined): PodStep {
  const { spec, resize } = state
  if (spec === undefined) return { state, effects: [] }
  if (hold === undefined)
    return { state: { ...state, resize: { appliedFor: resourcesKey(spec), hold } }, effects: [] }
  const isNews = hold.message !== resize.hold?.message
  return {
    state: { ...state, resize: { ...resize, hold } },
    effects: isNews
      ? [
          logEffect('warn', 'resize deferred: memory usage is above the new limit', state, {
            message: hold.message,
          }),
        ]
      : [],
  }
}

function resourcesKey({ pod }: PodSpec): string {
  const { containers, initContainers, resources } = pod
  const lists = [...initContainers, ...containers, ...(resources === undefined ? [] : [{ resources }])]
  return canonicalJson(lists.map(({ resources: r }) => [[...r.requests], [...r.limits]]))
}
