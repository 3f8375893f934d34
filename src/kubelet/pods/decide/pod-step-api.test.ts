import { describe, expect, test } from 'vitest'
import { container, exited, image, manifest, observed } from '../../../../test/support/pod-manifest.js'
import type { KubePod } from '../../../core/kube/objects.js'
import { containerHash } from './container-hash.js'
import type { Moment, PodEffect, PodEvent } from './pod-event.js'
import { createPodState, heldSpec, isFinished, type PodState } from './pod-state.js'
import { stepPod } from './pod-step.js'
import { readApiPod } from './wanted-pod.js'

const facts = { syncNanos: 60_000_000_000n, hostIPs: ['192.0.2.1'], runtimeName: 'containerd' }
const start: Moment = { monotonicNanos: 1_000_000_000n, wallNanos: 1_700_000_000_000_000_000n }

interface Given {
  readonly spec?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}
const object = ({ spec = {}, metadata = {}, status = {} }: Given = {}): KubePod =>
  ({
    ...manifest(spec, { uid: 'u1', namespace: 'shop', generation: 1, ...metadata }),
    status: { phase: 'Pending', ...status },
  }) as KubePod
const wanted = (given: Given = {}): PodEvent => {
  const pod = readApiPod(object(given), '2023-11-14T22:13:20Z')
  if (pod?.spec === undefined) throw new Error(pod?.rejection?.message)
  return { kind: 'wanted', spec: pod.spec, manifest: '', api: pod.api }
}
const seen = (...containers: Parameters<typeof observed>[0]): PodEvent => ({
  kind: 'observed',
  observed: observed(containers),
})
const turn: PodEvent = { kind: 'turn', heldByOther: undefined, nameIsFree: true, resourcesDiffer: false }
const acted = (kind: 'prepare' | 'release'): PodEvent => ({
  kind: 'acted',
  action: { kind },
  hold: undefined,
})
const deleted = (seconds: number): Given => ({
  metadata: { deletionTimestamp: '2023-11-14T22:14:00Z', deletionGracePeriodSeconds: seconds },
})

function given(events: readonly PodEvent[], from = createPodState('u1', undefined, start.wallNanos)) {
  let state: PodState = from
  let effects: readonly PodEffect[] = []
  for (const event of events) ({ state, effects } = stepPod(state, event, start, facts))
  const actions = effects.flatMap((e) => (e.kind === 'act' ? [e.action] : []))
  return { state, effects, actions }
}
const app = container({ name: 'app' })
const nothing: PodEvent = { kind: 'observed', observed: observed([], []) }

describe('a pod that is deleted in the API server', () => {
  test('terminates with the grace period of the deletion, at least one second', () => {
    expect(given([wanted(deleted(7)), seen(app), turn]).actions).toMatchObject([
      { kind: 'stop-containers', graceSeconds: 7 },
    ])
    expect(given([wanted(deleted(0))]).state.life).toMatchObject({ graceSeconds: 1 })
  })

  test('a second deletion can only shorten it, and what is under way begins anew', () => {
    const shorter = given([wanted(deleted(30)), seen(app), wanted(deleted(2))])
    expect(shorter.state.life).toMatchObject({ graceSeconds: 2 })
    expect(shorter.effects).toContainEqual({ kind: 'hurry' })
    expect(given([wanted(deleted(2)), wanted(deleted(30))]).state.life).toMatchObject({ graceSeconds: 2 })
  })

  test('is finished when nothing runs and its cgroup and volumes are gone, but its status stays', () => {
    const stopped = given([wanted(), seen(app), acted('prepare'), wanted(deleted(5)), seen(exited('app', 3))])
    expect(isFinished(stopped.state)).toBe(false)
    const sandbox = given([turn], stopped.state)
    expect(sandbox.actions).toMatchObject([{ kind: 'stop-sandbox' }])
    const gone = { ...observed([exited('app', 3)]), sandboxes: [] }
    const release = given([{ kind: 'observed', observed: gone }, turn], stopped.state)
    expect(release.actions).toEqual([{ kind: 'release' }])
    const { state, actions } = given([acted('release'), turn], release.state)
    expect(actions).toEqual([])
    expect(isFinished(state)).toBe(true)
    expect(state.status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 3 } } }],
    })
  })

  test('everything of it goes when the API server has removed it', () => {
    const finished = given([wanted(deleted(5)), nothing, turn, acted('release')]).state
    const { actions } = given([{ kind: 'unwanted' }, turn], finished)
    expect(actions.at(-1)).toEqual({ kind: 'forget' })
  })

  test('forced: without an object it is ended with its own grace period and removed', () => {
    const { state, actions } = given([
      wanted({ spec: { terminationGracePeriodSeconds: 9 } }),
      seen(app),
      { kind: 'unwanted' },
      turn,
    ])
    expect(actions).toMatchObject([{ kind: 'stop-containers', graceSeconds: 9 }])
    expect(given([nothing, turn], state).actions).toEqual([{ kind: 'forget' }])
  })

  test('before anything ran: its containers ended in a way that is not known', () => {
    const { state } = given([wanted(deleted(5)), nothing, turn, acted('release')])
    expect(state.status?.phase).toBe('Failed')
    expect(state.status?.containerStatuses[0]?.state.terminated).toMatchObject({
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
    })
  })

  test('all containers ended well: Succeeded, also with restartPolicy Always', () => {
    const gone = { ...observed([exited('app', 0)]), sandboxes: [] }
    const { state } = given([wanted(deleted(5)), { kind: 'observed', observed: gone }, turn])
    expect(state.status?.phase).toBe('Succeeded')
  })
})

describe('a pod that is over in the API server', () => {
  test('is not started again, and neither its phase nor its ends go back', () => {
    const end = { exitCode: 0, reason: 'Completed', startedAt: null, finishedAt: null }
    const status = {
      phase: 'Succeeded',
      startTime: '2023-11-14T00:00:00Z',
      containerStatuses: [
        {
          name: 'app',
          state: { terminated: end },
          lastState: {},
          ready: false,
          restartCount: 2,
          image,
          imageID: '',
          started: false,
        },
      ],
    }
    const { state, actions } = given([wanted({ status }), nothing, turn])
    expect(actions).toEqual([{ kind: 'release' }])
    expect(state.status).toMatchObject(status)
  })
})

describe('a pod that the kubelet ends', () => {
  const verdict = {
    reason: 'Evicted',
    message: 'The node was low on resource: memory.',
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message: 'low on memory',
      } as const,
    ],
    rejected: false,
  }
  test('terminates with that grace period and has Failed with that reason', () => {
    const { state, actions } = given([
      wanted(),
      seen(app),
      { kind: 'killed', verdict, graceSeconds: 0 },
      turn,
    ])
    expect(actions).toMatchObject([{ kind: 'stop-containers', graceSeconds: 1 }])
    expect(state.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: verdict.message })
    expect(state.status?.conditions[0]).toMatchObject({ type: 'DisruptionTarget', status: 'True' })
    expect(state.stopped).toBe(false)
  })

  for (const { name, exitCode, isFinal, shown } of [
    { name: 'ends with 0: it has Succeeded', exitCode: 0, isFinal: false, shown: { phase: 'Succeeded' } },
    { name: 'ends with 143', exitCode: 143, isFinal: false, shown: { phase: 'Failed', reason: 'Evicted' } },
    {
      name: 'ends with 0 after its deadline',
      exitCode: 0,
      isFinal: true,
      shown: { phase: 'Failed', reason: 'Evicted' },
    },
  ])
    test(`its container ${name}`, () => {
      const ended = container({ name: 'app', hash: app.hash, state: 'exited', exitCode })
      const killed = { kind: 'killed', verdict: { ...verdict, isFinal } } as const
      const { state } = given([wanted(), seen(app), killed, turn, seen(ended), turn])
      const { phase, reason, conditions } = state.status ?? {}
      expect({ phase, ...(reason === undefined ? {} : { reason }) }).toEqual(shown)
      expect(conditions?.[0]).toMatchObject({ type: 'DisruptionTarget' })
    })

  test('not admitted: nothing is started, and the status says why and nothing of containers', () => {
    const rejected = { ...verdict, reason: 'OutOfcpu', message: 'no cpu', conditions: [], rejected: true }
    const { state, actions } = given([wanted(), { kind: 'killed', verdict: rejected }, nothing, turn])
    expect(actions).toEqual([{ kind: 'release' }])
    expect(state.status).toMatchObject({
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: no cpu',
      containerStatuses: [],
      observedGeneration: 1,
    })
  })
})

describe('a pod that is changed in the API server', () => {
  const running = container({ name: 'app', hash: containerHash({ name: 'app', image }) })
  test('with another image the container is ended and started anew', () => {
    const other = { spec: { containers: [{ name: 'app', image: 'keelson.local/busybox:2' }] } }
    const { actions } = given([wanted(), seen(running), acted('prepare'), wanted(other), turn])
    expect(actions).toMatchObject([
      { kind: 'stop-containers', targets: [{ name: 'app' }] },
      { kind: 'start-container', name: 'app', attempt: 1 },
    ])
  })

  test('with other labels nothing is restarted, and the status is of the new generation', () => {
    const labelled = { metadata: { labels: { a: 'b' }, generation: 2 } }
    const { state, actions } = given([wanted(), seen(running), acted('prepare'), wanted(labelled), turn])
    expect(actions).toEqual([])
    expect(state.status?.observedGeneration).toBe(2)
    expect(state.status?.conditions.every((c) => c.observedGeneration === 2)).toBe(true)
    expect(state.spec?.labels.get('a')).toBe('b')
  })
})

test('a container that vanished while it ran has a last state, and one more restart', () => {
  const before = given([wanted(), seen(app)]).state
  const { state } = given([turn, { kind: 'observed', observed: observed([]) }, turn], before)
  expect(state.status?.containerStatuses[0]).toMatchObject({
    state: { waiting: {} },
    lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
    restartCount: 1,
  })
  expect(state.status?.phase).toBe('Running')
})

describe('a start that was cut off, because the kubelet was killed in the middle of it', () => {
  const message = 'failed to start: context canceled'
  const cutOff = exited('app', 128, { startedAtNanos: 0n, reason: 'StartError', message })

  test('is not shown as an end, and the container is started again with the same number', () => {
    const removal = given([wanted(), seen(cutOff), turn])
    expect(removal.actions).toEqual([{ kind: 'remove-container', id: cutOff.id }])
    expect(removal.state.status).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ restartCount: 0, state: { waiting: {} }, lastState: {} }],
    })
    const again = given([seen(), turn], removal.state).actions
    expect(again).toContainEqual(expect.objectContaining({ kind: 'start-container', attempt: 0 }))
  })

  test('also when the new kubelet saw it before the runtime gave it up', () => {
    const created = { ...cutOff, state: 'created' as const, exitCode: 0, reason: '', message: '' }
    const removal = given([wanted(), seen(created), seen(cutOff), turn])
    const again = given([seen(), turn], removal.state).actions
    expect(again).toContainEqual(expect.objectContaining({ kind: 'start-container', attempt: 0 }))
  })

  test('after a container was reported that was only created', () => {
    const reported = (more: object): Given => ({
      status: { containerStatuses: [{ name: 'app', containerID: 'containerd://c1', ...more }] },
    })
    const attemptOf = (status: Given): unknown =>
      given([wanted(status), seen(), turn]).actions.find(({ kind }) => kind === 'start-container')
    const waiting = { waiting: { reason: 'ContainerCreating' } }
    expect(attemptOf(reported({ restartCount: 0, state: waiting }))).toMatchObject({ attempt: 0 })
    expect(attemptOf(reported({ restartCount: 2, state: waiting }))).toMatchObject({ attempt: 2 })
    const ended = { terminated: { exitCode: 1, containerID: 'containerd://c1' } }
    const backedOff = { waiting: { reason: 'CrashLoopBackOff' } }
    expect(attemptOf(reported({ restartCount: 2, state: backedOff, lastState: ended }))).toMatchObject({
      attempt: 3,
    })
    expect(attemptOf(reported({ restartCount: 2, state: ended }))).toMatchObject({ attempt: 3 })
  })
})

describe('what a pod holds of the node', () => {
  const over = { status: { phase: 'Failed' } }
  const afterRestart = (...containers: Parameters<typeof observed>[0]): PodState =>
    createPodState('u1', observed(containers, containers.length === 0 ? [] : undefined), start.wallNanos)

  test('a pod that is over in the API server holds nothing, also before the kubelet has looked at it', () => {
    expect(heldSpec(given([wanted()]).state)).toBeDefined()
    expect(heldSpec(given([wanted(over)]).state)).toBeUndefined()
  })

  test('one of which something still runs does', () => {
    expect(heldSpec(given([wanted(over)], afterRestart(app)).state)).toBeDefined()
    expect(heldSpec(given([wanted(over)], afterRestart()).state)).toBeUndefined()
  })
})
