// The life of a pod's worker as rows of events: what each does to the state, and what it asks for.
import { describe, expect, test } from 'vitest'
import {
  container,
  deadSandbox,
  exited,
  observed,
  second,
  specOf,
} from '../../../../test/support/pod-manifest.js'
import type { Hold } from './actions.js'
import type { Moment, PodEffect, PodEvent, PodFacts } from './pod-event.js'
import { createPodState, type PodState, podName } from './pod-state.js'
import { stepPod } from './pod-step.js'

const facts: PodFacts = { syncNanos: 60n * second, hostIPs: ['192.0.2.1'], runtimeName: 'containerd' }
const start: Moment = { monotonicNanos: 1_000n * second, wallNanos: 50_000n * second }
const later = (seconds: bigint): Moment => ({
  monotonicNanos: start.monotonicNanos + seconds * second,
  wallNanos: start.wallNanos + seconds * second,
})

const wanted = (spec = specOf()): PodEvent => ({ kind: 'wanted', spec, manifest: '/m/web.yaml' })
const turn = (more: Partial<Extract<PodEvent, { kind: 'turn' }>> = {}): PodEvent => ({
  kind: 'turn',
  heldByOther: undefined,
  nameIsFree: true,
  resourcesDiffer: false,
  ...more,
})
const seen = (pod = observed([container({ name: 'app' })])): PodEvent => ({ kind: 'observed', observed: pod })
const failed = (message: string, runtimeUnreachable = false): PodEvent => ({
  kind: 'failed',
  error: new Error(message),
  runtimeUnreachable,
})

/** All events at one moment, from a pod that nothing is known of. */
function given(
  events: readonly PodEvent[],
  at = start,
  from = createPodState('u1', undefined, at.wallNanos),
) {
  let state: PodState = from
  const effects: PodEffect[] = []
  for (const event of events) {
    const before = structuredClone(state)
    const step = stepPod(state, event, at, facts)
    expect(state, 'the state before is left as it was').toEqual(before)
    state = step.state
    effects.push(...step.effects)
  }
  return { state, effects }
}
const running = given([
  wanted(),
  seen(),
  { kind: 'acted', action: { kind: 'prepare' }, hold: undefined },
]).state
const kinds = (effects: readonly PodEffect[]): string[] =>
  effects.map((e) => (e.kind === 'act' ? e.action.kind : e.kind === 'log' ? e.message : e.kind))

describe('wanted and unwanted', () => {
  test('a wanted pod has a spec, a status and a turn at once', () => {
    const { state, effects } = given([wanted()])
    expect(podName(state)).toBe('default/web')
    expect(state.status?.phase).toBe('Pending')
    expect(kinds(effects)).toEqual(['wake'])
  })

  test('an unwanted pod terminates with its own grace period, and its pulls are cancelled', () => {
    const { state, effects } = given([
      wanted(specOf({ terminationGracePeriodSeconds: 7 })),
      { kind: 'unwanted' },
    ])
    expect(state.life).toEqual({
      phase: 'terminating',
      sinceNanos: start.monotonicNanos,
      sinceWallNanos: start.wallNanos,
      graceSeconds: 7,
    })
    expect(kinds(effects)).toEqual(['wake', 'cancel-pulls', 'wake'])
  })

  test('one known from the runtime alone has the grace period of its labels', () => {
    const pod = { ...observed([container({ name: 'app' })]), graceSeconds: 4 }
    const { state } = given([seen(pod), { kind: 'unwanted' }])
    expect(state.life).toMatchObject({ phase: 'terminating', graceSeconds: 4 })
    expect(state.status).toBeUndefined()
  })

  test('a terminating pod neither comes back nor begins its grace period again', () => {
    const ending = given([wanted(), { kind: 'unwanted' }]).state
    const { state, effects } = given(
      [wanted(specOf({}, { name: 'x' })), { kind: 'unwanted' }],
      later(5n),
      ending,
    )
    expect(state.life).toBe(ending.life)
    expect(state.spec).toBe(ending.spec)
    expect(effects).toEqual([])
  })

  test('a pod that is gone hears nothing more', () => {
    const forget = { kind: 'acted', action: { kind: 'forget' }, hold: undefined } as const
    const { state, effects } = given([wanted(), { kind: 'unwanted' }, forget])
    expect(state.life.phase).toBe('gone')
    expect(kinds(effects).at(-1)).toBe('gone')
    expect(stepPod(state, turn(), start, facts)).toEqual({ state, effects: [] })
  })
})

describe('a turn', () => {
  test('of a new pod prepares it and makes its sandbox, and the next follows at once', () => {
    const { state, effects } = given([wanted(), seen(observed([], [])), turn()])
    expect(kinds(effects).slice(1)).toEqual(['prepare', 'run-sandbox'])
    expect(state.nextTurnNanos).toBe(start.monotonicNanos)
  })

  test('of a pod at rest is due again after the sync period, and is counted', () => {
    const { state, effects } = given([turn(), turn()], start, running)
    expect(effects).toEqual([])
    expect(state.quietTurns).toBe(2)
    expect(state.nextTurnNanos).toBe(start.monotonicNanos + facts.syncNanos)
    expect(given([{ kind: 'woken' }], start, state).state.quietTurns).toBe(0)
  })

  test('in back-off is due when that ends, which is not rest', () => {
    const end = start.wallNanos - 3n * second
    const crashed = observed([exited('app', 1, { finishedAtNanos: end })])
    const backoff = { delayNanos: 10n * second, updatedAtNanos: start.monotonicNanos - 3n * second }
    const from = { ...running, backoffs: new Map([['app', backoff]]) }
    const { state } = given([seen(crashed), turn()], start, from)
    expect(state.nextTurnNanos).toBe(start.monotonicNanos + 7n * second)
    expect(state.quietTurns).toBe(0)
    expect(state.status?.containerStatuses[0]?.state.waiting?.reason).toBe('CrashLoopBackOff')
  })

  test('waits while a pod of the same name terminates; termination itself does not', () => {
    const from = given([wanted(), seen(observed([], []))]).state
    const waits = given([turn({ nameIsFree: false })], start, from)
    expect(waits.effects).toEqual([])
    expect(waits.state.nextTurnNanos).toBe(start.monotonicNanos + facts.syncNanos)
    const ends = given([{ kind: 'unwanted' }, turn({ nameIsFree: false })], start, from)
    expect(kinds(ends.effects)).toContain('forget')
  })
})

describe('a pod that another kubelet runs', () => {
  const held = turn({ heldByOther: 'another runs it' })

  test('is left alone, says so once, and shows it', () => {
    const from = given([wanted(), seen(observed([], []))]).state
    const { state, effects } = given([held, held], start, from)
    expect(kinds(effects)).toEqual(['pod not started: another kubelet runs it or a pod of its name'])
    expect(state.heldByOther).toBe('another runs it')
    expect(state.status?.message).toBe('another runs it')
    expect(given([turn()], start, state).state.heldByOther).toBeUndefined()
  })

  test('is forgotten without an action when it is not wanted any more', () => {
    const { state, effects } = given([{ kind: 'unwanted' }, held], start, running)
    expect(state.life.phase).toBe('gone')
    expect(kinds(effects)).toEqual(['cancel-pulls', 'wake', 'gone'])
  })
})

describe('ends of containers', () => {
  const endedAt = (finishedAtNanos: bigint) =>
    given([seen(observed([exited('app', 1, { finishedAtNanos })]))]).state.endedAt.get('app#0')

  test('are told by the monotonic clock from the first look on', () => {
    expect(endedAt(start.wallNanos - 5n * second)).toBe(start.monotonicNanos - 5n * second)
    expect(endedAt(start.wallNanos + 9n * second), 'in the future: just now').toBe(start.monotonicNanos)
    const pod = observed([exited('app', 1, { finishedAtNanos: start.wallNanos })])
    const again = { ...later(30n), wallNanos: start.wallNanos - 3600n * second }
    expect(given([seen(pod)], again, given([seen(pod)]).state).state.endedAt.get('app#0')).toBe(
      start.monotonicNanos,
    )
  })

  test('are forgotten with the container', () => {
    const one = given([seen(observed([exited('app', 1, { finishedAtNanos: 1n })]))]).state
    expect(given([seen(observed([]))], start, one).state.endedAt.size).toBe(0)
  })
})

describe('starting a container', () => {
  const action = { kind: 'start-container', name: 'app', attempt: 1 } as const
  const again = { ...action, endedAtNanos: start.monotonicNanos }

  test('after an end counts for the back-off before the start is tried; the first does not', () => {
    const twice = given(
      [
        { kind: 'acting', action: again },
        { kind: 'acting', action: again },
      ],
      start,
      running,
    )
    expect(twice.state.backoffs.get('app')?.delayNanos).toBe(20n * second)
    const first = given([{ kind: 'acting', action: { ...action, endedAtNanos: undefined } }], start, running)
    expect(first.state.backoffs.size).toBe(0)
    expect(kinds(first.effects)).toEqual(['starting container'])
  })

  test('that fails is held with its reason until a start succeeds', () => {
    const hold: Hold = { untilNanos: 1n, reason: 'ErrImagePull', message: 'not there' }
    const held = given([{ kind: 'acted', action: again, hold }], start, running)
    expect(held.state.holds.get('app')).toEqual(hold)
    expect(held.effects).toMatchObject([
      { fields: { pod: 'default/web', container: 'app', reason: 'ErrImagePull' } },
    ])
    const fine = given([{ kind: 'acted', action: again, hold: undefined }], start, held.state)
    expect(fine.state.holds.size).toBe(0)
  })

  test('a failed pull is remembered by image until one succeeds', () => {
    const backoff = { delayNanos: 10n * second, updatedAtNanos: 0n, error: 'ErrImagePull: none' }
    const { state } = given([{ kind: 'pulled', image: 'a:1', backoff }], start, running)
    expect(state.pullBackoffs.get('a:1')).toEqual(backoff)
    const pulled = given([{ kind: 'pulled', image: 'a:1', backoff: undefined }], start, state)
    expect(pulled.state.pullBackoffs.size).toBe(0)
  })
})

describe('a turn that fails', () => {
  test('is tried again after 1, 2, 4, 8, 10 and 10 s; the same message is logged once', () => {
    const delays: bigint[] = []
    const logged: string[] = []
    let state = running
    for (let i = 0; i < 6; i += 1) {
      const step = given([failed('no space')], start, state)
      state = step.state
      delays.push((state.nextTurnNanos - start.monotonicNanos) / second)
      logged.push(...kinds(step.effects))
    }
    expect(delays).toEqual([1n, 2n, 4n, 8n, 10n, 10n])
    expect(logged).toEqual(['pod sync failed; retrying'])
    expect(kinds(given([failed('another')], start, state).effects)).toEqual(['pod sync failed; retrying'])
    const synced = given([{ kind: 'synced' }, failed('no space')], start, state).state
    expect(synced.failures.count).toBe(1)
  })

  test('before its sandbox is ready is shown as the reason, after that it is not', () => {
    const from = given([wanted(), seen(observed([], [deadSandbox]))]).state
    const { state } = given([failed('no network')], start, from)
    expect(state.status).toMatchObject({ reason: 'FailedCreatePodSandBox', message: 'no network' })
    const made = { kind: 'acted', action: { kind: 'run-sandbox', attempt: 1 }, hold: undefined } as const
    expect(given([made], start, state).state.status?.message).toBeUndefined()
    expect(given([failed('x')], start, running).state.status?.message).toBeUndefined()
  })

  test('because the runtime is unreachable is no fault of the pod: 1 s, no log, no count', () => {
    const { state, effects } = given([failed('gone', true), failed('gone', true)], start, running)
    expect(effects).toEqual([])
    expect(state.failures.count).toBe(0)
    expect(state.nextTurnNanos).toBe(start.monotonicNanos + second)
  })
})

describe('a resize', () => {
  const resize = { kind: 'resize' } as const
  const differs = turn({ resourcesDiffer: true })

  test('is done once for each set of resources', () => {
    const first = given([differs], start, running)
    expect(kinds(first.effects)).toEqual(['resize'])
    const applied = given([{ kind: 'acted', action: resize, hold: undefined }], start, first.state).state
    expect(given([differs], start, applied).effects).toEqual([])
    const app = { name: 'app', image: 'a:1', resources: { limits: { memory: '1Mi' } } }
    const other = given([wanted(specOf({ containers: [app] })), differs], start, applied)
    expect(kinds(other.effects)).toEqual(['wake', 'resize'])
  })

  test('that waits for usage to fall is tried again when its hold ends, and reported once', () => {
    const hold = { untilNanos: later(10n).monotonicNanos, reason: 'ResizeDeferred', message: 'in use' }
    const done: PodEvent = { kind: 'acted', action: resize, hold }
    const deferred = given([done, done], start, running)
    expect(kinds(deferred.effects)).toEqual(['resize deferred: memory usage is above the new limit'])
    expect(given([differs], start, deferred.state).effects).toEqual([])
    expect(kinds(given([differs], later(10n), deferred.state).effects)).toEqual(['resize'])
  })
})

describe('activeDeadlineSeconds', () => {
  const limited = wanted(specOf({ activeDeadlineSeconds: 20 }))
  const begun = given([
    limited,
    seen(),
    { kind: 'acted', action: { kind: 'prepare' }, hold: undefined },
  ]).state

  test('the next turn is due when it passes', () => {
    const { state } = given([seen(), turn()], later(5n), begun)
    expect(state.nextTurnNanos).toBe(later(20n).monotonicNanos)
    expect(state.life.phase).toBe('active')
  })

  test('then the pod fails and terminates, once', () => {
    const { state, effects } = given([seen(), turn()], later(20n), begun)
    expect(state.life).toMatchObject({ phase: 'terminating', graceSeconds: 30 })
    expect(state.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
    expect(kinds(effects)).toEqual(['event', 'cancel-pulls', 'wake'])
    expect(kinds(given([turn()], later(21n), state).effects)).toEqual(['stop-containers'])
  })
})

describe('probes', () => {
  const spec = specOf({
    containers: [{ name: 'app', image: 'i', readinessProbe: { tcpSocket: { port: 1 } } }],
  })

  test('a result shows in the status at once, also while the worker is busy', () => {
    const { state } = given([wanted(spec), seen(), turn()])
    expect(state.status?.containerStatuses[0]).toMatchObject({ ready: false })
    const health = new Map([['app#0', { started: true, ready: true, failed: undefined }]])
    const probed = given([{ kind: 'probed', health }], start, state)
    expect(probed.state.status?.containerStatuses[0]).toMatchObject({ ready: true })
    expect(kinds(probed.effects)).toEqual(['wake'])
  })
})
