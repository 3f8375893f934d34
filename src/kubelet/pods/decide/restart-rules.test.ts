// Restarts by rule and policy, kills by probe and pods that start over, as rows.
import { describe, expect, test } from 'vitest'
import { container, exited, observed, second } from '../../../../test/support/pod-manifest.js'
import { actionsOf, done, input, never, now, side, withSidecar } from '../../../../test/support/pod-turns.js'
import { decidePodTurn } from './turn.js'

const image = 'i'
const rule = (action: string, operator: string, values: readonly number[]) => ({
  action,
  exitCodes: { operator, values },
})
const app = (more: object) => ({ containers: [{ name: 'app', image, ...more }] })

describe('after an exit', () => {
  for (const { name, spec, code, actions } of [
    {
      name: 'a container that always restarts in a pod that never does',
      spec: { ...never, ...app({ restartPolicy: 'Always' }) },
      code: 0,
      actions: ['start app#1'],
    },
    {
      name: 'a container that never restarts in a pod that always does',
      spec: app({ restartPolicy: 'Never' }),
      code: 1,
      actions: ['stop-sandbox s0'],
    },
    {
      name: 'a rule that matches',
      spec: app({ restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', [42])] }),
      code: 42,
      actions: ['start app#1'],
    },
    {
      name: 'a rule that does not match',
      spec: app({ restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', [42])] }),
      code: 43,
      actions: ['stop-sandbox s0'],
    },
    {
      name: 'a rule for all others',
      spec: app({ restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'NotIn', [42])] }),
      code: 43,
      actions: ['start app#1'],
    },
  ])
    test(name, () => expect(actionsOf(input(spec, observed([exited('app', code)])))).toEqual(actions))
})

describe('RestartAllContainers', () => {
  const spec = {
    ...never,
    initContainers: [{ name: 'i1', image }],
    containers: [
      {
        name: 'a',
        image,
        restartPolicy: 'Never',
        restartPolicyRules: [rule('RestartAllContainers', 'In', [42])],
      },
      { name: 'b', image },
    ],
  }

  test('all others end at once and are removed, the one that caused it last', () =>
    expect(actionsOf(input(spec, observed([done('i1'), exited('a', 42), container({ name: 'b' })])))).toEqual(
      ['stop b#0 0s', 'remove-container b#0', 'remove-container i1#0', 'remove-container a#0'],
    ))

  test('an interrupted round goes on, though an init container looks failed by now', () =>
    expect(actionsOf(input(spec, observed([exited('i1', 137, { kind: 'init' }), exited('a', 42)])))).toEqual([
      'remove-container i1#0',
      'remove-container a#0',
    ]))

  test('then the pod begins with its init containers, and goes on counting', () => {
    const attempts = new Map([['i1', 0]])
    expect(actionsOf(input(spec, observed([]), { attempts }))).toEqual(['start i1#1'])
  })
})

describe('a failed probe', () => {
  const failed = (probe: 'liveness' | 'startup', ready = false) =>
    new Map([['app#0', { started: true, ready, failed: probe }]])
  const probed = { livenessProbe: { tcpSocket: { port: 1 } } }
  const seen = observed([container({ name: 'app' })])
  const [kill] = decidePodTurn(input(app(probed), seen, { health: failed('liveness') })).actions

  test('ends the container with the grace period of the pod, and says why', () =>
    expect(kill).toMatchObject({
      kind: 'stop-containers',
      graceSeconds: 30,
      targets: [{ name: 'app', message: 'Container app failed liveness probe, will be restarted' }],
    }))

  test('the grace period of the probe comes first', () => {
    const own = { livenessProbe: { ...probed.livenessProbe, terminationGracePeriodSeconds: 3 } }
    expect(actionsOf(input(app(own), seen, { health: failed('liveness') }))).toEqual(['stop app#0 3s'])
  })

  test('a container that does not restart is not said to', () => {
    const turn = decidePodTurn(input({ ...never, ...app(probed) }, seen, { health: failed('startup') }))
    expect(turn.actions).toMatchObject([{ targets: [{ message: 'Container app failed startup probe' }] }])
  })

  test('its end is not the one that back-off counts from', () => {
    const killed = exited('app', 137, { attempt: 1, finishedAtNanos: now, killedFor: 'probe' })
    const backoffs = new Map([['app', { delayNanos: 10n * second, updatedAtNanos: now - 60n * second }]])
    const earlier = (ago: bigint) => exited('app', 137, { finishedAtNanos: now - ago * second })
    const starts = (ago: bigint) =>
      actionsOf(input(app(probed), observed([earlier(ago), killed]), { backoffs }))
    expect(starts(30n)).toContain('start app#2')
    expect(starts(5n)).not.toContain('start app#2')
  })

  describe('an exit code of 0 under OnFailure', () => {
    const restarts = (killedFor: 'probe' | 'change' | undefined, policy = 'OnFailure') =>
      actionsOf(
        input({ restartPolicy: policy, ...app(probed) }, observed([exited('app', 0, { killedFor })])),
      ).includes('start app#1')

    test('is the end of a container that chose it', () => expect(restarts(undefined)).toBe(false))
    test('is no end after a failed probe, unless the pod never restarts', () => {
      expect(restarts('probe')).toBe(true)
      expect(restarts('probe', 'Never')).toBe(false)
    })
    test('is no end after a change of the definition, whatever the policy', () => {
      expect(restarts('change')).toBe(true)
      expect(restarts('change', 'Never')).toBe(true)
    })
  })
})

describe('sidecars', () => {
  const started = (...names: readonly string[]) =>
    new Map(names.map((name) => [`${name}#0`, { started: true, ready: true, failed: undefined }]))
  const spec = {
    initContainers: withSidecar.initContainers.map((one) =>
      one.name === 's1' ? { ...one, startupProbe: { tcpSocket: { port: 1 } } } : one,
    ),
  }

  test('the next init container waits for the startup probe', () => {
    const seen = observed([done('i1'), side('s1')])
    expect(actionsOf(input(spec, seen))).toEqual([])
    expect(actionsOf(input(spec, seen, { health: started('s1') }))).toEqual(['start i2#0'])
  })

  test('one that has passed and restarts does not hold up those after it', () => {
    const backoffs = new Map([['s1', { delayNanos: 10n * second, updatedAtNanos: now }]])
    const crashed = exited('s1', 1, { kind: 'sidecar', finishedAtNanos: now })
    const seen = observed([done('i1'), crashed, done('i2')])
    expect(actionsOf(input(spec, seen, { backoffs }))).toEqual(['start s2#0'])
  })

  test('an init container whose instance was removed does not run again', () => {
    const seen = observed([side('s1'), done('i2')])
    expect(actionsOf(input(spec, seen, { health: started('s1') }))).toEqual(['start s2#0'])
  })
})
