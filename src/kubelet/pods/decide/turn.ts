// One turn of a pod: from what is wanted and what the runtime shows to the next actions, in order. Pure: the same input
// gives the same turn, and a pod that is as it should be gives none.

import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { planContainers } from './containers-turn.js'
import { planEnding, planStop } from './ending-turn.js'
import {
  currentSandbox,
  isAlive,
  isStartCutOff,
  type ObservedContainer,
  type ObservedPod,
} from './observed.js'
import { finalPhase } from './phase.js'
import type { Backoff } from './restart-backoff.js'

/** Why a container is not started yet although it should be. */
export interface Hold {
  readonly untilNanos: bigint
  /** As kubectl shows it: ImagePullBackOff, CreateContainerError. */
  readonly reason: string
  readonly message: string
}

export interface StopTarget {
  readonly id: string
  readonly name: string
}

export type PodAction =
  /** Pod cgroup with its values, directories, volumes. */
  | { readonly kind: 'prepare' }
  | { readonly kind: 'run-sandbox'; readonly attempt: number }
  /** Image, create, start. `endedAtNanos`: the end of the instance before, which back-off counts from. */
  | {
      readonly kind: 'start-container'
      readonly name: string
      readonly attempt: number
      readonly endedAtNanos: bigint | undefined
    }
  /** Created before by us or an earlier life of us, and never started. */
  | { readonly kind: 'start-created'; readonly id: string; readonly name: string }
  | { readonly kind: 'resize' }
  /** All at the same time; done when every one has ended. */
  | {
      readonly kind: 'stop-containers'
      readonly targets: readonly StopTarget[]
      readonly graceSeconds: number
      readonly why: string
    }
  | { readonly kind: 'stop-sandbox'; readonly id: string }
  | { readonly kind: 'remove-container'; readonly id: string }
  | { readonly kind: 'remove-sandbox'; readonly id: string }
  /** The pod is over: cgroup and volumes go, status and logs stay while the manifest does. */
  | { readonly kind: 'release' }
  /** Nobody wants the pod any more and nothing of it runs: everything goes. */
  | { readonly kind: 'forget' }

export interface Waiting {
  readonly reason: string
  readonly message: string
}

export interface PodTurnInput {
  readonly spec: PodSpec | undefined
  readonly observed: ObservedPod
  /** Set once the pod is to end: when that began, and how long it may take. */
  readonly ending: { readonly sinceNanos: bigint; readonly graceSeconds: number } | undefined
  readonly backoffs: ReadonlyMap<string, Backoff>
  /** By container name; the sandbox's is under the empty name. */
  readonly holds: ReadonlyMap<string, Hold>
  /** Whether this process has prepared the pod already. */
  readonly prepared: boolean
  readonly released: boolean
  /** Whether a running container, or the pod's cgroup, has other cpu or memory values than wanted. */
  readonly resize: boolean
  /** Container id -> when it ended, by the clock of `nowNanos`. */
  readonly endedAt: ReadonlyMap<string, bigint>
  /** Of a clock that nobody sets; holds, back-offs and the beginning of the end are by the same. */
  readonly nowNanos: bigint
}

export interface PodTurn {
  readonly actions: readonly PodAction[]
  /** When to look again although nothing happens. */
  readonly wakeAtNanos: bigint | undefined
  readonly waiting: ReadonlyMap<string, Waiting>
}

export function decidePodTurn(i: PodTurnInput): PodTurn {
  const { spec, observed } = i
  if (spec === undefined || i.ending !== undefined) return planEnding(i)
  const cutOff = observed.containers.filter(isStartCutOff)
  if (cutOff.length > 0) return turn(cutOff.map(({ id }) => ({ kind: 'remove-container', id })))
  if (finalPhase(spec, observed) !== undefined) return planRelease(i, spec)
  const sandbox = currentSandbox(observed)
  const stale = planStale(i, spec)
  if (stale.length > 0) return turn(stale)
  if (sandbox === undefined) return planSandbox(i)
  const prepare: PodAction[] = i.prepared ? [] : [{ kind: 'prepare' }]
  const containers = planContainers(i, spec, sandbox)
  const resize: PodAction[] = i.resize && i.prepared ? [{ kind: 'resize' }] : []
  return {
    ...containers,
    actions: [...prepare, ...resize, ...containers.actions, ...planRemovals(observed)],
  }
}

const turn = (actions: readonly PodAction[]): PodTurn => ({
  actions,
  wakeAtNanos: undefined,
  waiting: new Map(),
})

/** A ready sandbox that is not the newest, and containers whose sandbox has died under them: they must end first. */
function planStale({ observed }: PodTurnInput, spec: PodSpec): readonly PodAction[] {
  const current = currentSandbox(observed)?.id
  const left = observed.containers.filter((c) => isAlive(c) && c.sandboxId !== current)
  const stops = planStop(left, spec.terminationGracePeriodSeconds, 'the sandbox has changed')
  if (stops.length > 0) return stops
  const unknown = observed.containers.filter((c) => c.state === 'unknown')
  if (unknown.length > 0) return [stopNow(unknown, 'the runtime lost sight of it')]
  return observed.sandboxes
    .filter((sandbox) => sandbox.ready && sandbox.id !== current)
    .map(({ id }) => ({ kind: 'stop-sandbox', id }))
}

const stopNow = (containers: readonly ObservedContainer[], why: string): PodAction => ({
  kind: 'stop-containers',
  targets: containers.map(({ id, name }) => ({ id, name })),
  graceSeconds: 0,
  why,
})

function planSandbox(i: PodTurnInput): PodTurn {
  const hold = i.holds.get('')
  if (hold !== undefined && hold.untilNanos > i.nowNanos)
    return { actions: [], wakeAtNanos: hold.untilNanos, waiting: new Map() }
  const [newest] = i.observed.sandboxes
  // A sandbox that died keeps its network until it is stopped.
  const stop: PodAction[] = newest === undefined ? [] : [{ kind: 'stop-sandbox', id: newest.id }]
  const attempt = newest === undefined ? 0 : newest.attempt + 1
  return turn([...stop, { kind: 'prepare' }, { kind: 'run-sandbox', attempt }])
}

/** Finished: sidecars end last, then the sandbox, then what only a running pod needs. */
function planRelease(i: PodTurnInput, spec: PodSpec): PodTurn {
  const { observed } = i
  const stops = planStop(
    observed.containers.filter(isAlive),
    spec.terminationGracePeriodSeconds,
    'the pod is over',
  )
  if (stops.length > 0) return turn(stops.slice(0, 1))
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready)
  if (ready.length > 0) return turn(ready.map(({ id }) => ({ kind: 'stop-sandbox', id })))
  const release: PodAction[] = i.released ? [] : [{ kind: 'release' }]
  return turn([...release, ...planRemovals(observed)])
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
