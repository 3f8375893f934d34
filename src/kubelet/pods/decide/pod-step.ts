// One step of a pod's worker: an event and the state before it give the state after it and what is to be done. Pure; the
// worker (run/worker.ts) brings the events and carries out the effects. What a turn does is decided in decide/turn.ts.
import type { Hold, PodAction } from './actions.js'
import { backOffEvents } from './backoff-events.js'
import { deadlineExceeded, deadlineLeft } from './deadline.js'
import { observe } from './observe-step.js'
import type { KilledFor } from './observed.js'
import {
  logEffect,
  type Moment,
  type PodEffect,
  type PodEvent,
  type PodFacts,
  type PodStep,
} from './pod-event.js'
import type { PodState } from './pod-state.js'
import { endResize, mayResize } from './resize-step.js'
import { nextBackoff } from './restart-backoff.js'
import { reportedAttempts } from './status/reported-status.js'
import { withStatus } from './status/state-status.js'
import { decidePodTurn } from './turn.js'
import { isTerminalPhase } from './wanted-pod.js'

const defaultGraceSeconds = 30
/** Of a deletion: SIGTERM is always sent before SIGKILL. */
const leastGraceSeconds = 1
/** A runtime that is being restarted is back within a moment. */
const unreachableNanos = 1_000_000_000n
/** 1, 2, 4, 8 and then 10 seconds: most faults of a moment are over by the first. */
const retryNanos = (failures: number): bigint =>
  failures > 4 ? 10_000_000_000n : 1_000_000_000n << BigInt(failures - 1)

export function stepPod(state: PodState, event: PodEvent, at: Moment, facts: PodFacts): PodStep {
  if (state.life.phase === 'gone') return { state, effects: [] }
  const step = transition(state, event, at, facts)
  // What was observed is shown together with the turn that is decided from it.
  return event.kind === 'observed'
    ? step
    : { ...step, state: withStatus(step.state, { ...facts, nowNanos: at.wallNanos }) }
}

function transition(state: PodState, event: PodEvent, at: Moment, facts: PodFacts): PodStep {
  switch (event.kind) {
    case 'wanted':
      return want(state, event, at)
    case 'unwanted': {
      const { state: ending, effects } = terminate(state, at)
      // What it left behind for its status goes now.
      const again: PodEffect[] = state.life.phase === 'terminating' && state.wanted ? [{ kind: 'wake' }] : []
      return { state: { ...ending, wanted: false }, effects: [...effects, ...again] }
    }
    case 'killed':
      // The first reason stays: a pod ends once.
      return terminate({ ...state, verdict: state.verdict ?? event.verdict }, at, event.graceSeconds)
    case 'observed':
      return {
        state: { ...observe(state, event.observed, at), health: event.health ?? state.health },
        effects: [],
      }
    case 'probed':
      return { state: { ...state, health: event.health }, effects: [{ kind: 'wake' }] }
    case 'turn':
      return takeTurn(state, event, at, facts)
    case 'acting':
      return beginAction(state, event.action, at, facts)
    case 'acted':
      return endAction(state, event.action, event.hold)
    case 'pulled':
      return {
        state: { ...state, pullBackoffs: changed(state.pullBackoffs, event.image, event.backoff) },
        effects: [],
      }
    case 'synced':
      return { state: { ...state, failures: { count: 0, message: '' } }, effects: [] }
    case 'failed':
      return fail(state, event, at)
    case 'woken':
      return { state: { ...state, quietTurns: 0 }, effects: [] }
  }
}

function want(
  before: PodState,
  { spec, manifest, api }: Extract<PodEvent, { readonly kind: 'wanted' }>,
  at: Moment,
): PodStep {
  // A pod that no source had any more ends first, and then begins anew with another worker.
  if (before.life.phase === 'terminating' && !before.wanted) return { state: before, effects: [] }
  const state: PodState = {
    ...before,
    wanted: true,
    api,
    attempts: before.attempts.size > 0 ? before.attempts : reportedAttempts(api),
    manifest,
    // What is being ended is ended as it was started.
    spec: before.life.phase === 'active' ? spec : (before.spec ?? spec),
  }
  const { deletionTimestamp, deletionGracePeriodSeconds } = api?.metadata ?? {}
  if (deletionTimestamp !== undefined) return terminate(state, at, deletionGracePeriodSeconds)
  if (isTerminalPhase(api?.status?.phase)) return terminate(state, at)
  return { state, effects: state.life.phase === 'active' ? [{ kind: 'wake' }] : [] }
}

/** Never back to active; what shortens the grace period of a pod that terminates already counts from now. */
function terminate(state: PodState, at: Moment, graceSeconds?: number): PodStep {
  const { spec, observed, life } = state
  const asked = graceSeconds === undefined ? undefined : Math.max(leastGraceSeconds, graceSeconds)
  if (life.phase === 'gone') return { state, effects: [] }
  if (life.phase === 'terminating') {
    if (asked === undefined || asked >= life.graceSeconds) return { state, effects: [] }
    return {
      state: { ...state, life: { ...life, sinceNanos: at.monotonicNanos, graceSeconds: asked } },
      effects: [{ kind: 'hurry' }, { kind: 'wake' }],
    }
  }
  const own = spec?.terminationGracePeriodSeconds ?? observed.graceSeconds ?? defaultGraceSeconds
  return {
    state: {
      ...state,
      life: {
        phase: 'terminating',
        sinceNanos: at.monotonicNanos,
        sinceWallNanos: at.wallNanos,
        graceSeconds: asked ?? own,
      },
      stopped: false,
    },
    effects: [{ kind: 'cancel-pulls' }, { kind: 'wake' }],
  }
}

function takeTurn(
  before: PodState,
  event: Extract<PodEvent, { readonly kind: 'turn' }>,
  at: Moment,
  facts: PodFacts,
): PodStep {
  const latest = at.monotonicNanos + facts.syncNanos
  if (event.heldByOther !== undefined) return leaveAlone(before, event.heldByOther, at, latest)
  const state = { ...before, heldByOther: undefined }
  if (state.life.phase === 'active' && !event.nameIsFree)
    return { state: { ...state, nextTurnNanos: latest }, effects: [] }
  const left = deadlineLeft(state, at.wallNanos)
  if (left !== undefined && left <= 0n) return exceedDeadline(state, at)
  const { actions, wakeAtNanos, waiting, stopped } = decidePodTurn({
    ...state,
    ending: state.life.phase === 'terminating' ? state.life : undefined,
    resize: event.resourcesDiffer && mayResize(state, at),
    maxBackoffNanos: facts.maxBackoffNanos,
    nowNanos: at.monotonicNanos,
  })
  const isBusy = actions.length > 0
  const due = [latest, wakeAtNanos, left === undefined ? undefined : at.monotonicNanos + left].reduce<bigint>(
    (soonest, one) => (one !== undefined && one < soonest ? one : soonest),
    latest,
  )
  return {
    state: {
      ...state,
      waiting,
      stopped: stopped === true,
      failures: isBusy ? state.failures : { count: 0, message: '' },
      quietTurns: isBusy || wakeAtNanos !== undefined ? 0 : state.quietTurns + 1,
      nextTurnNanos: isBusy ? at.monotonicNanos : due,
    },
    effects: [
      ...backOffEvents(state.spec, waiting).map((event) => ({ kind: 'event', event }) as const),
      ...actions.map((action) => ({ kind: 'act', action }) as const),
    ],
  }
}

function exceedDeadline(state: PodState, at: Moment): PodStep {
  const { reason, message } = deadlineExceeded
  const ended = terminate({ ...state, verdict: state.verdict ?? deadlineExceeded }, at)
  return {
    state: { ...ended.state, nextTurnNanos: at.monotonicNanos },
    effects: [{ kind: 'event', event: { type: 'Normal', reason, message } }, ...ended.effects],
  }
}

/** Looked at again when something in the runtime changes. */
function leaveAlone(state: PodState, why: string, at: Moment, latest: bigint): PodStep {
  if (state.life.phase === 'terminating') return gone(state)
  const held = { ...state, heldByOther: why, nextTurnNanos: latest }
  if (why === state.heldByOther) return { state: held, effects: [] }
  const hold = { untilNanos: at.monotonicNanos, reason: 'FailedCreatePodSandBox', message: why }
  return {
    state: { ...held, holds: changed(state.holds, '', hold) },
    effects: [
      logEffect('error', 'pod not started: another kubelet runs it or a pod of its name', state, { why }),
    ],
  }
}

const gone = (state: PodState): PodStep => ({
  state: { ...state, life: { phase: 'gone' } },
  effects: [{ kind: 'gone' }],
})

function beginAction(state: PodState, action: PodAction, at: Moment, facts: PodFacts): PodStep {
  if (action.kind === 'stop-containers' && action.killedFor !== undefined)
    return { state: withKills(state, action.targets, action.killedFor), effects: [] }
  if (action.kind !== 'start-container') return { state, effects: [] }
  const { name, attempt, endedAtNanos } = action
  const backoffs =
    endedAtNanos === undefined
      ? state.backoffs
      : changed(
          state.backoffs,
          name,
          nextBackoff(state.backoffs.get(name), endedAtNanos, at.monotonicNanos, facts.maxBackoffNanos),
        )
  return {
    state: { ...state, backoffs },
    effects: [logEffect('info', 'starting container', state, { container: name, attempt })],
  }
}

function withKills(
  state: PodState,
  targets: readonly { readonly id: string }[],
  killedFor: KilledFor,
): PodState {
  const known = new Set(state.observed.containers.map(({ id }) => id))
  const before = [...state.kills].filter(([id]) => known.has(id))
  return { ...state, kills: new Map([...before, ...targets.map(({ id }) => [id, killedFor] as const)]) }
}

function endAction(state: PodState, action: PodAction, hold: Hold | undefined): PodStep {
  switch (action.kind) {
    case 'start-container':
    case 'start-created': {
      const { name } = action
      const { reason, message } = hold ?? {}
      return {
        state: { ...state, holds: changed(state.holds, name, hold) },
        effects:
          hold === undefined
            ? []
            : [logEffect('warn', 'container not started', state, { container: name, reason, message })],
      }
    }
    case 'run-sandbox':
      return { state: { ...state, holds: changed(state.holds, '', undefined) }, effects: [] }
    case 'prepare':
      return { state: { ...state, prepared: true }, effects: [] }
    case 'resize':
      return endResize(state, hold)
    case 'release':
      return { state: { ...state, released: true }, effects: [] }
    case 'forget':
      return gone(state)
    default:
      return { state, effects: [] }
  }
}

function fail(
  state: PodState,
  { error, runtimeUnreachable }: Extract<PodEvent, { readonly kind: 'failed' }>,
  at: Moment,
): PodStep {
  const { message } = error
  const count = state.failures.count + (runtimeUnreachable ? 0 : 1)
  const untilNanos = at.monotonicNanos + (runtimeUnreachable ? unreachableNanos : retryNanos(count))
  const isSandbox = state.life.phase === 'active' && state.observed.sandboxes[0]?.ready !== true
  const hold = { untilNanos, reason: 'FailedCreatePodSandBox', message }
  // Once while it stays the same: a runtime that is unreachable is reported by the PLEG.
  const isNews = !runtimeUnreachable && message !== state.failures.message
  return {
    state: {
      ...state,
      failures: { count, message },
      holds: isSandbox && !runtimeUnreachable ? changed(state.holds, '', hold) : state.holds,
      quietTurns: 0,
      nextTurnNanos: untilNanos,
    },
    effects: isNews ? [logEffect('warn', 'pod sync failed; retrying', state, { error })] : [],
  }
}

/** A copy with one entry set, or without it. */
function changed<T>(map: ReadonlyMap<string, T>, key: string, value: T | undefined): ReadonlyMap<string, T> {
  const copy = new Map(map)
  if (value === undefined) copy.delete(key)
  else copy.set(key, value)
  return copy
}
