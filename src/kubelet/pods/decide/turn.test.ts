// The decisions of a pod's life as rows: what is wanted, what the runtime shows, and what is done next.
import { describe, expect, test } from 'vitest'
import { container, deadSandbox, exited, observed, second } from '../../../../test/support/pod-manifest.js'
import {
  actionsOf,
  done,
  init,
  input,
  never,
  now,
  one,
  onFailure,
  side,
  two,
  withInit,
  withSidecar,
} from '../../../../test/support/pod-turns.js'
import type { Hold } from './actions.js'
import type { Backoff } from './restart-backoff.js'
import { decidePodTurn } from './turn.js'

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
      actions: ['stop s2#0+s1#0 30s'],
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
