// Sandboxes that die, what is removed, and how a pod ends, as rows.
import { describe, expect, test } from 'vitest'
import {
  container,
  deadSandbox,
  exited,
  observed,
  readySandbox,
  second,
} from '../../../../test/support/pod-manifest.js'
import {
  actionsOf,
  done,
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
  test('an instance whose start was cut off: it never ran, so it is no end and no restart', () => {
    for (const message of [
      'task: context canceled: unknown',
      'failed to create containerd task: failed to start shim: start failed: : signal: killed: unknown',
    ]) {
      const cutOff = exited('app', 128, { startedAtNanos: 0n, reason: 'StartError', message })
      for (const spec of [one, never])
        expect(actionsOf(input(spec, observed([cutOff])))).toEqual(['remove-container app#0'])
    }
    const real = exited('app', 128, {
      startedAtNanos: 0n,
      reason: 'StartError',
      message: 'exec: no such file',
    })
    expect(actionsOf(input(one, observed([real])))).toEqual(['start app#1'])
  })

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
    expect(actionsOf(input(withSidecar, running, { ending }))).toEqual(['stop app#0+s2#0+s1#0 10s'])
    const sidecars = observed([side('s1'), side('s2'), exited('app', 0)])
    expect(actionsOf(input(withSidecar, sidecars, { ending, nowNanos: now + 4n * second }))).toEqual([
      'stop s2#0+s1#0 6s',
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
