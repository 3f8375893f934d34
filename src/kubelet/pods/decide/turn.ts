// One turn of a pod: from what is wanted and what the runtime shows to the next actions, in order. Pure: the same input
// gives the same turn, and a pod with nothing to do gives an empty one.

import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { onlyActions, type PodAction, type PodTurn, type PodTurnInput, stopTogether } from './actions.js'
import { planContainers } from './containers-turn.js'
import { planEnding, planStop } from './ending-turn.js'
import {
  currentSandbox,
  isAlive,
  isStartCutOff,
  type ObservedContainer,
  type ObservedPod,
} from './observed.js'
import { planReplacements } from './replaced-containers.js'
import { restartAllSources } from './restart-rules.js'
import { finalPhase } from './status/phase.js'

export function decidePodTurn(i: PodTurnInput): PodTurn {
  const { spec, observed } = i
  if (spec === undefined || i.ending !== undefined) return planEnding(i)
  const cutOff = observed.containers.filter(isStartCutOff)
  if (cutOff.length > 0) return onlyActions(cutOff.map(({ id }) => ({ kind: 'remove-container', id })))
  const sources = restartAllSources(spec, observed)
  if (sources.length > 0) return planRestartAll(observed, sources)
  if (finalPhase(spec, observed) !== undefined) return planRelease(i, spec)
  const sandbox = currentSandbox(observed)
  const stale = planStale(i, spec)
  if (stale.length > 0) return onlyActions(stale)
  if (sandbox === undefined) return planSandbox(i)
  const prepare: PodAction[] = i.prepared ? [] : [{ kind: 'prepare' }]
  const replace = planReplacements(observed, spec, sandbox)
  if (replace.length > 0) return onlyActions([...prepare, ...replace])
  const containers = planContainers(i, spec, sandbox)
  const resize: PodAction[] = i.resize && i.prepared ? [{ kind: 'resize' }] : []
  return {
    ...containers,
    actions: [...prepare, ...resize, ...containers.actions, ...planRemovals(observed)],
  }
}

/** The pod starts over in its sandbox: nothing of its containers is left but their logs. */
function planRestartAll(observed: ObservedPod, sources: readonly ObservedContainer[]): PodTurn {
  const alive = observed.containers.filter(isAlive)
  const others = observed.containers.filter((container) => !sources.includes(container))
  return onlyActions([
    ...(alive.length === 0 ? [] : [stopTogether(alive, 0, 'a restart rule restarts all containers')]),
    ...[...others, ...sources].map(({ id }): PodAction => ({ kind: 'remove-container', id })),
  ])
}

/** A ready sandbox that is not the newest, and containers whose sandbox has died under them: they must end first. */
function planStale({ observed }: PodTurnInput, spec: PodSpec): readonly PodAction[] {
  const current = currentSandbox(observed)?.id
  const left = observed.containers.filter((c) => isAlive(c) && c.sandboxId !== current)
  const stops = planStop(left, spec.terminationGracePeriodSeconds, 'the sandbox has changed', spec)
  if (stops.length > 0) return stops
  const unknown = observed.containers.filter((c) => c.state === 'unknown')
  if (unknown.length > 0) return [stopTogether(unknown, 0, 'its state in the runtime is unknown')]
  return observed.sandboxes
    .filter((sandbox) => sandbox.ready && sandbox.id !== current)
    .map(({ id }) => ({ kind: 'stop-sandbox', id }))
}

function planSandbox(i: PodTurnInput): PodTurn {
  const hold = i.holds.get('')
  if (hold !== undefined && hold.untilNanos > i.nowNanos)
    return { actions: [], wakeAtNanos: hold.untilNanos, waiting: new Map() }
  const [newest] = i.observed.sandboxes
  // A sandbox that died keeps its network until it is stopped.
  const stop: PodAction[] = newest === undefined ? [] : [{ kind: 'stop-sandbox', id: newest.id }]
  const attempt = newest === undefined ? 0 : newest.attempt + 1
  return onlyActions([...stop, { kind: 'prepare' }, { kind: 'run-sandbox', attempt }])
}

/** Finished: sidecars end last, then the sandbox, then what only a running pod needs. */
function planRelease(i: PodTurnInput, spec: PodSpec): PodTurn {
  const { observed } = i
  const stops = planStop(
    observed.containers.filter(isAlive),
    spec.terminationGracePeriodSeconds,
    'the pod has completed',
    spec,
  )
  if (stops.length > 0) return onlyActions(stops)
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready)
  if (ready.length > 0) return onlyActions(ready.map(({ id }) => ({ kind: 'stop-sandbox', id })))
  const release: PodAction[] = i.released ? [] : [{ kind: 'release' }]
  return { ...onlyActions([...release, ...planRemovals(observed)]), stopped: true }
}

/** One ended instance of each container is kept for its status and log; older ones, and sandboxes of only such, go. */
function planRemovals(observed: ObservedPod): readonly PodAction[] {
  const kept = new Set<string>()
  const old = observed.containers.filter((container) => {
    if (container.state !== 'exited') return false
    if (kept.has(container.name)) return true
    kept.add(container.name)
    return false
  })
  const oldIds = new Set(old.map(({ id }) => id))
  const [, ...older] = observed.sandboxes
  const sandboxes = older.filter(
    (sandbox) =>
      !sandbox.ready && observed.containers.every((c) => c.sandboxId !== sandbox.id || oldIds.has(c.id)),
  )
  const sandboxIds = new Set(sandboxes.map(({ id }) => id))
  return [
    ...old
      .filter((c) => !sandboxIds.has(c.sandboxId))
      .map(({ id }): PodAction => ({ kind: 'remove-container', id })),
    ...sandboxes.map(({ id }): PodAction => ({ kind: 'remove-sandbox', id })),
  ]
}
