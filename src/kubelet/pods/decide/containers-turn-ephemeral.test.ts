// Debug containers of a running pod: started once, whatever becomes of them, and never part of the pod's end.
import { describe, expect, test } from 'vitest'
import { container, exited, image, observed, specOf } from '../../../../test/support/pod-manifest.js'
import { actionsOf, input } from '../../../../test/support/pod-turns.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { containerNamespaces } from '../to-cri/namespaces.js'
import { podStatus } from './status/status.js'

const ephemeralContainers = [{ name: 'debug', image, targetContainerName: 'app' }]
const spec = (more: object = {}): PodSpec => specOf({ ephemeralContainers, ...more }, {}, 'api')
const app = container({ name: 'app' })
const debug = (more: object = {}) => container({ name: 'debug', kind: 'ephemeral', ...more })
const actions = (wanted: PodSpec, ...seen: Parameters<typeof observed>) =>
  actionsOf(input({}, observed(...seen), { spec: wanted }))

describe('turns', () => {
  test('started beside the running app container', () =>
    expect(actions(spec(), [app])).toEqual(['start debug#0']))
  test('also while the pod initializes', () => {
    const wanted = spec({ initContainers: [{ name: 'i', image }] })
    expect(actions(wanted, [container({ name: 'i', kind: 'init' })])).toEqual(['start debug#0'])
  })
  test('running: left alone', () => expect(actions(spec(), [app, debug()])).toEqual([]))
  for (const exitCode of [0, 1])
    test(`ended with ${exitCode}: not restarted, although the pod's policy is Always`, () =>
      expect(actions(spec(), [app, exited('debug', exitCode, { kind: 'ephemeral' })])).toEqual([]))
  test('ended in a sandbox before this one: not started again', () => {
    const before = exited('debug', 0, { kind: 'ephemeral', sandboxId: 'old' })
    expect(actions(spec(), [app, before])).toEqual([])
  })
  test('a pod that has completed takes it along', () => {
    const wanted = spec({ restartPolicy: 'Never' })
    expect(actions(wanted, [exited('app', 0), debug()])).toEqual(['stop debug#0 30s'])
  })
})

describe('status', () => {
  const statusOf = (...seen: Parameters<typeof observed>) =>
    podStatus({
      spec: spec(),
      observed: observed(...seen),
      waiting: new Map(),
      sandboxProblem: undefined,
      hostIPs: [],
      startedAtNanos: 1n,
      runtimeName: 'containerd',
      nowNanos: 1n,
      before: undefined,
    })
  test('has a list of its own, and does not count for readiness', () => {
    const status = statusOf([app, exited('debug', 3, { kind: 'ephemeral' })])
    expect(status.ephemeralContainerStatuses).toMatchObject([
      { name: 'debug', ready: false, restartCount: 0, state: { terminated: { exitCode: 3 } } },
    ])
    expect(status.phase).toBe('Running')
    expect(status.conditions.find((c) => c.type === 'Ready')?.status).toBe('True')
    expect(status.containerStatuses.map(({ name }) => name)).toEqual(['app'])
  })
  test('not started yet', () =>
    expect(statusOf([app]).ephemeralContainerStatuses).toMatchObject([
      { state: { waiting: { reason: 'ContainerCreating' } } },
    ]))
})

test('it sees the processes of its target, unless the pod shares all of them', () => {
  const [container0, pod, target] = [1, 0, 3]
  expect(containerNamespaces(spec(), 'c1')).toMatchObject({ pid: target, targetId: 'c1' })
  expect(containerNamespaces(spec(), undefined).pid).toBe(container0)
  expect(containerNamespaces(spec({ shareProcessNamespace: true }), 'c1').pid).toBe(pod)
})
