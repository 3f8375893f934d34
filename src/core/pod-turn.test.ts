// The decisions of a pod's life as rows: what is wanted, what the runtime shows, and what is done next.
import { describe, expect, test } from 'vitest'
import {
  container,
  deadSandbox,
  exited,
  image,
  observed,
  readySandbox,
  second,
  specOf,
} from '../../test/support/pod-manifest.js'
import type { ObservedContainer, ObservedPod } from './pod-observed.js'
import { decidePodTurn, type Hold, type PodAction, type PodTurnInput } from './pod-turn.js'
import type { Backoff } from './restart-backoff.js'

const now = 10_000n * second

const input = (spec: object, seen: ObservedPod, more: Partial<PodTurnInput> = {}): PodTurnInput => ({
  spec: specOf({ ...spec }),
  observed: seen,
  ending: undefined,
  backoffs: new Map(),
  holds: new Map(),
  prepared: true,
  released: false,
  resize: false,
  nowNanos: now,
  ...more,
})

/** `start app#1`, `stop app#0+b#0 5s`: one short word for each action. */
function brief(action: PodAction): string {
  switch (action.kind) {
    case 'run-sandbox':
      return `sandbox#${action.attempt}`
    case 'start-container':
      return `start ${action.name}#${action.attempt}`
    case 'start-created':
      return `start-created ${action.id}`
    case 'stop-containers':
      return `stop ${action.targets.map((t) => t.id).join('+')} ${action.graceSeconds}s`
    case 'stop-sandbox':
    case 'remove-container':
    case 'remove-sandbox':
      return `${action.kind} ${action.id}`
    default:
      return action.kind
  }
}
const actionsOf = (i: PodTurnInput): string[] => decidePodTurn(i).actions.map(brief)

const init = (name: string, more: Partial<ObservedContainer> = {}) =>
  container({ name, kind: 'init', ...more })
const side = (name: string, more: Partial<ObservedContainer> = {}) =>
  container({ name, kind: 'sidecar', ...more })
const done = (name: string) => exited(name, 0, { kind: 'init' })

const one = {}
const withInit = {
  initContainers: [
    { name: 'i1', image },
    { name: 'i2', image },
  ],
}
const withSidecar = {
  initContainers: [
    { name: 'i1', image },
    { name: 's1', image, restartPolicy: 'Always' },
    { name: 'i2', image },
    { name: 's2', image, restartPolicy: 'Always' },
  ],
}
const two = {
  containers: [
    { name: 'a', image },
    { name: 'b', image },
  ],
}
const never = { restartPolicy: 'Never' }
const onFailure = { restartPolicy: 'OnFailure' }

describe('start', () => {
  for (const { name, spec, seen, actions } of [
    { name: 'nothing is there', spec: one, seen: observed([], []), actions: ['prepare', 'sandbox#0'] },
    { name: 'the sandbox is ready', spec: one, seen: observed([]), actions: ['start app#0'] },
    {
      name: 'two app containers start together',
      spec: two,
      seen: observed([]),
      actions: ['start a#0', 'start b#0'],
    },
    { name: 'all is as it should be', spec: one, seen: observed([container({ name: 'app' })]), actions: [] },
    {
      name: 'one of two is missing',
      spec: two,
      seen: observed([container({ name: 'a' })]),
      actions: ['start b#0'],
    },
    {
      name: 'created and never started: taken over, no restart is counted',
      spec: one,
      seen: observed([container({ name: 'app', state: 'created' })]),
      actions: ['start-created app#0'],
    },
    { name: 'init containers first', spec: withInit, seen: observed([]), actions: ['start i1#0'] },
    { name: 'an init container runs', spec: withInit, seen: observed([init('i1')]), actions: [] },
    {
      name: 'the second follows the first',
      spec: withInit,
      seen: observed([done('i1')]),
      actions: ['start i2#0'],
    },
    {
      name: 'apps follow the last',
      spec: withInit,
      seen: observed([done('i1'), done('i2')]),
      actions: ['start app#0'],
    },
    {
      name: 'a failed init container runs again',
      spec: withInit,
      seen: observed([exited('i1', 1, { kind: 'init' })]),
      actions: ['start i1#1'],
    },
    {
      name: 'an init container created and never started',
      spec: withInit,
      seen: observed([init('i1', { state: 'created' })]),
      actions: ['start-created i1#0'],
    },
    {
      name: 'a sidecar in its place',
      spec: withSidecar,
      seen: observed([done('i1')]),
      actions: ['start s1#0'],
    },
    {
      name: 'the next init container beside a running sidecar',
      spec: withSidecar,
      seen: observed([done('i1'), side('s1')]),
      actions: ['start i2#0'],
    },
    {
      name: 'a sidecar that ended holds the next init container up',
      spec: withSidecar,
      seen: observed([done('i1'), exited('s1', 0, { kind: 'sidecar' })]),
      actions: ['start s1#1'],
    },
    {
      name: 'apps after the last sidecar',
      spec: withSidecar,
      seen: observed([done('i1'), side('s1'), done('i2'), side('s2')]),
      actions: ['start app#0'],
    },
    {
      name: 'a sidecar that ends later comes back, and the app is left alone',
      spec: withSidecar,
      seen: observed([
        done('i1'),
        exited('s1', 1, { kind: 'sidecar' }),
        done('i2'),
        side('s2'),
        container({ name: 'app' }),
      ]),
      actions: ['start s1#1'],
    },
    {
      name: 'init containers that somebody removed do not run again under a running app',
      spec: withInit,
      seen: observed([container({ name: 'app' })]),
      actions: [],
    },
  ])
    test(name, () => expect(actionsOf(input(spec, seen))).toEqual(actions))

  test('the first turn of this process prepares a pod that runs already, and nothing else', () => {
    expect(actionsOf(input(one, observed([container({ name: 'app' })]), { prepared: false }))).toEqual([
      'prepare',
    ])
  })
  test('other amounts: resize', () => {
    expect(actionsOf(input(one, observed([container({ name: 'app' })]), { resize: true }))).toEqual([
      'resize',
    ])
  })
})

describe('restart policies', () => {
  for (const { name, spec, seen, actions } of [
    { name: 'Always, ended well', spec: one, seen: observed([exited('app', 0)]), actions: ['start app#1'] },
    { name: 'Always, failed', spec: one, seen: observed([exited('app', 1)]), actions: ['start app#1'] },
    {
      name: 'OnFailure, failed',
      spec: onFailure,
      seen: observed([exited('app', 1)]),
      actions: ['start app#1'],
    },
    {
      name: 'OnFailure, ended well',
      spec: onFailure,
      seen: observed([exited('app', 0)]),
      actions: ['stop-sandbox s0'],
    },
    { name: 'Never, failed', spec: never, seen: observed([exited('app', 1)]), actions: ['stop-sandbox s0'] },
    {
      name: 'Never, over and stopped',
      spec: never,
      seen: observed([exited('app', 1)], [deadSandbox]),
      actions: ['release'],
    },
    {
      name: 'Never, one of two has ended',
      spec: { ...never, ...two },
      seen: observed([exited('a', 0), container({ name: 'b' })]),
      actions: [],
    },
    {
      name: 'OnFailure, one ended well and one failed',
      spec: { ...onFailure, ...two },
      seen: observed([exited('a', 0), exited('b', 2)]),
      actions: ['start b#1'],
    },
    {
      name: 'Never, init failed: nothing more is started',
      spec: { ...never, ...withInit },
      seen: observed([exited('i1', 1, { kind: 'init' })]),
      actions: ['stop-sandbox s0'],
    },
    {
      name: 'Never, apps are over: sidecars end, the later one first',
      spec: { ...never, ...withSidecar },
      seen: observed([done('i1'), side('s1'), done('i2'), side('s2'), exited('app', 0)]),
      actions: ['stop s2#0 30s'],
    },
    {
      name: 'Never, apps are over and one sidecar is left',
      spec: { ...never, ...withSidecar },
      seen: observed([
        done('i1'),
        side('s1'),
        done('i2'),
        exited('s2', 0, { kind: 'sidecar' }),
        exited('app', 0),
      ]),
      actions: ['stop s1#0 30s'],
    },
  ])
    test(name, () => expect(actionsOf(input(spec, seen))).toEqual(actions))

  test('a pod that is over and released is left alone', () => {
    expect(actionsOf(input(never, observed([exited('app', 0)], [deadSandbox]), { released: true }))).toEqual(
      [],
    )
  })
})

describe('back-off and holds', () => {
  const backoff: Backoff = { delayNanos: 20n * second, updatedAtNanos: now - 30n * second }
  const crashed = observed([exited('app', 1, { finishedAtNanos: now - 5n * second })])

  test('a crash loop waits, says so and wakes', () => {
    const turn = decidePodTurn(input(one, crashed, { backoffs: new Map([['app', backoff]]) }))
    expect(turn.actions).toEqual([])
    expect(turn.wakeAtNanos).toBe(now + 15n * second)
    expect(turn.waiting.get('app')).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'back-off 20s restarting failed container=app pod=web_default(u1)',
    })
  })
  test('when the time has come it starts, and says since when', () => {
    const later = input(one, crashed, { backoffs: new Map([['app', backoff]]), nowNanos: now + 15n * second })
    expect(decidePodTurn(later).actions).toEqual([
      { kind: 'start-container', name: 'app', attempt: 1, endedAtNanos: now - 5n * second },
    ])
  })
  test('one that waits does not hold the other up, and the earliest wake counts', () => {
    const hold: Hold = { untilNanos: now + 3n * second, reason: 'ImagePullBackOff', message: 'm' }
    const seen = observed([exited('a', 1, { finishedAtNanos: now - 5n * second })])
    const turn = decidePodTurn(
      input(two, seen, { backoffs: new Map([['a', backoff]]), holds: new Map([['b', hold]]) }),
    )
    expect(turn.wakeAtNanos).toBe(now + 3n * second)
    expect([...turn.waiting.keys()]).toEqual(['a', 'b'])
  })
  test('a hold of the sandbox holds everything', () => {
    const hold: Hold = { untilNanos: now + second, reason: 'FailedCreatePodSandBox', message: 'm' }
    const turn = decidePodTurn(input(one, observed([], []), { holds: new Map([['', hold]]) }))
    expect([turn.actions, turn.wakeAtNanos]).toEqual([[], now + second])
  })
  test('a hold that is over counts no more', () => {
    const hold: Hold = { untilNanos: now, reason: 'x', message: '' }
    expect(actionsOf(input(one, observed([]), { holds: new Map([['app', hold]]) }))).toEqual(['start app#0'])
  })
  test('a failing init container waits with its own back-off', () => {
    const seen = observed([exited('i1', 1, { kind: 'init', finishedAtNanos: now - 5n * second })])
    const turn = decidePodTurn(input(withInit, seen, { backoffs: new Map([['i1', backoff]]) }))
    expect(turn.waiting.get('i1')?.reason).toBe('CrashLoopBackOff')
    expect(turn.actions).toEqual([])
  })
})

describe('a sandbox dies', () => {
  const alive = container({ name: 'app' })
  const newer = { ...readySandbox, id: 's1', attempt: 1 }

  for (const { name, spec, seen, actions } of [
    {
      name: 'its containers end first',
      spec: one,
      seen: observed([alive], [deadSandbox]),
      actions: ['stop app#0 30s'],
    },
    {
      name: 'then the next one is made',
      spec: one,
      seen: observed([exited('app', 137)], [deadSandbox]),
      actions: ['stop-sandbox s0', 'prepare', 'sandbox#1'],
    },
    {
      name: 'in the new one the app goes on counting',
      spec: one,
      seen: observed([exited('app', 137)], [newer, deadSandbox]),
      actions: ['start app#1'],
    },
    {
      name: 'in the new one init containers run again',
      spec: withInit,
      seen: observed([done('i1'), done('i2'), exited('app', 137)], [newer, deadSandbox]),
      actions: ['start i1#1'],
    },
    {
      name: 'OnFailure: what ended well does not run again',
      spec: { ...onFailure, ...two },
      seen: observed([exited('a', 0), exited('b', 137)], [newer, deadSandbox]),
      actions: ['start b#1'],
    },
    {
      name: 'Never: that was it',
      spec: never,
      seen: observed([alive], [deadSandbox]),
      actions: ['stop app#0 30s'],
    },
    {
      name: 'two are ready: the older one goes with its containers',
      spec: one,
      seen: observed([alive], [newer, readySandbox]),
      actions: ['stop app#0 30s'],
    },
    {
      name: 'two are ready, the older one is empty',
      spec: one,
      seen: observed([], [newer, readySandbox]),
      actions: ['stop-sandbox s0'],
    },
    {
      name: 'a container that the runtime lost sight of is ended',
      spec: one,
      seen: observed([container({ name: 'app', state: 'unknown' })]),
      actions: ['stop app#0 0s'],
    },
    {
      name: 'Never, the sandbox died before anything ran: a new one',
      spec: never,
      seen: observed([container({ name: 'app', state: 'created' })], [deadSandbox]),
      actions: ['stop-sandbox s0', 'prepare', 'sandbox#1'],
    },
  ])
    test(name, () => expect(actionsOf(input(spec, seen))).toEqual(actions))
})

describe('what is removed', () => {
  test('all but the newest ended instance', () => {
    const seen = observed([
      exited('app', 1),
      exited('app', 1, { attempt: 1 }),
      container({ name: 'app', attempt: 2 }),
    ])
    expect(actionsOf(input(one, seen))).toEqual(['remove-container app#0'])
  })
  test('an old sandbox once nothing in it is needed', () => {
    const newer = { ...readySandbox, id: 's1', attempt: 1 }
    const seen = observed(
      [
        exited('app', 1),
        exited('app', 1, { attempt: 1, sandboxId: 's1' }),
        container({ name: 'app', attempt: 2, sandboxId: 's1' }),
      ],
      [newer, deadSandbox],
    )
    expect(actionsOf(input(one, seen))).toEqual(['remove-sandbox s0'])
  })
  test('not while its last instance is the one before', () => {
    const newer = { ...readySandbox, id: 's1', attempt: 1 }
    const seen = observed(
      [exited('app', 1), container({ name: 'app', attempt: 1, sandboxId: 's1' })],
      [newer, deadSandbox],
    )
    expect(actionsOf(input(one, seen))).toEqual([])
  })
})

describe('the end', () => {
  const ending = { sinceNanos: now, graceSeconds: 10 }
  const running = observed([done('i1'), side('s1'), done('i2'), side('s2'), container({ name: 'app' })])

  test('apps, then sidecars in reverse, within one grace period', () => {
    expect(actionsOf(input(withSidecar, running, { ending }))).toEqual(['stop app#0 10s'])
    const sidecars = observed([side('s1'), side('s2'), exited('app', 0)])
    expect(actionsOf(input(withSidecar, sidecars, { ending, nowNanos: now + 4n * second }))).toEqual([
      'stop s2#0 6s',
    ])
    const last = observed([side('s1'), exited('app', 0)])
    expect(actionsOf(input(withSidecar, last, { ending, nowNanos: now + 60n * second }))).toEqual([
      'stop s1#0 2s',
    ])
  })
  test('then the sandbox, then everything', () => {
    expect(actionsOf(input(one, observed([exited('app', 0)]), { ending }))).toEqual(['stop-sandbox s0'])
    expect(actionsOf(input(one, observed([exited('app', 0)], [deadSandbox]), { ending }))).toEqual([
      'stop-sandbox s0',
      'remove-sandbox s0',
      'forget',
    ])
    expect(actionsOf(input(one, observed([], []), { ending }))).toEqual(['forget'])
  })
  test('without a manifest the label of the pod says how long', () => {
    const orphan = { ...observed([container({ name: 'app' })]), graceSeconds: 7 }
    expect(actionsOf(input(one, orphan, { spec: undefined }))).toEqual(['stop app#0 7s'])
  })
  test('no grace at all is a kill', () => {
    const at0 = { sinceNanos: now, graceSeconds: 0 }
    expect(actionsOf(input(one, observed([container({ name: 'app' })]), { ending: at0 }))).toEqual([
      'stop app#0 0s',
    ])
  })
})
