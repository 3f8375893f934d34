import { describe, expect, test } from 'vitest'
import {
  container,
  deadSandbox,
  exited,
  image,
  observed,
  specOf,
} from '../../../../../test/support/pod-manifest.js'
import { podDocument } from '../../../../core/pod/document.js'
import { formatTime, formatTimeNano, parseTime } from '../../../../core/units/rfc3339.js'
import { containerHash } from '../container-hash.js'
import type { ObservedPod } from '../observed.js'
import { type PodStatusInput, podStatus } from './status.js'

const now = 1_700_000_000_000_000_000n
const base = {
  waiting: new Map(),
  sandboxProblem: undefined,
  hostIPs: ['192.168.0.1'],
  startedAtNanos: now,
  runtimeName: 'containerd',
  nowNanos: now,
  before: undefined,
}
const statusOf = (spec: object, seen: ObservedPod, more: Partial<PodStatusInput> = {}) =>
  podStatus({ ...base, spec: specOf({ ...spec }), observed: seen, ...more })

const never = { restartPolicy: 'Never' }
const withInit = { initContainers: [{ name: 'i', image }] }
const crash = new Map([['app', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]])

describe('phase', () => {
  for (const { name, spec, seen, phase, waiting } of [
    { name: 'nothing yet', spec: {}, seen: observed([], []), phase: 'Pending' },
    { name: 'sandbox only', spec: {}, seen: observed([]), phase: 'Pending' },
    { name: 'running', spec: {}, seen: observed([container({ name: 'app' })]), phase: 'Running' },
    {
      name: 'init runs',
      spec: withInit,
      seen: observed([container({ name: 'i', kind: 'init' })]),
      phase: 'Pending',
    },
    { name: 'crash loop', spec: {}, seen: observed([exited('app', 1)]), phase: 'Running', waiting: crash },
    { name: 'Never, done', spec: never, seen: observed([exited('app', 0)]), phase: 'Succeeded' },
    { name: 'Never, failed', spec: never, seen: observed([exited('app', 1)]), phase: 'Failed' },
    {
      name: 'init failed for good',
      spec: { ...never, ...withInit },
      seen: observed([exited('i', 1, { kind: 'init' })]),
      phase: 'Failed',
    },
    { name: 'Always, ended', spec: {}, seen: observed([exited('app', 0)]), phase: 'Running' },
    {
      name: 'Never, sandbox lost',
      spec: never,
      seen: observed([exited('app', 137)], [deadSandbox]),
      phase: 'Failed',
    },
  ])
    test(name, () => expect(statusOf(spec, seen, waiting === undefined ? {} : { waiting }).phase).toBe(phase))
})

describe('containers', () => {
  for (const { name, seen, spec, waiting, state } of [
    {
      name: 'no sandbox',
      spec: {},
      seen: observed([], []),
      state: { waiting: { reason: 'ContainerCreating' } },
    },
    {
      name: 'init before it',
      spec: withInit,
      seen: observed([]),
      state: { waiting: { reason: 'PodInitializing' } },
    },
    {
      name: 'out of memory',
      spec: never,
      seen: observed([exited('app', 137, { reason: 'OOMKilled' })]),
      state: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
    },
    {
      name: 'an end without a reason',
      spec: never,
      seen: observed([exited('app', 3)]),
      state: { terminated: { reason: 'Error', exitCode: 3 } },
    },
    {
      name: 'a good end',
      spec: never,
      seen: observed([exited('app', 0)]),
      state: { terminated: { reason: 'Completed' } },
    },
    {
      name: 'crash loop',
      spec: {},
      seen: observed([exited('app', 1)]),
      waiting: crash,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    },
  ])
    test(name, () => {
      const [status] = statusOf(spec, seen, waiting === undefined ? {} : { waiting }).containerStatuses
      expect(status?.state).toMatchObject(state)
    })

  test('a crash loop shows how it ended last, and how often', () => {
    const seen = observed([
      exited('app', 2, { attempt: 4 }),
      exited('app', 1, { attempt: 3, createdAtNanos: 0n }),
    ])
    const [status] = statusOf({}, seen, { waiting: crash }).containerStatuses
    expect(status).toMatchObject({
      restartCount: 4,
      ready: false,
      lastState: { terminated: { exitCode: 2 } },
    })
  })
  test('a running one shows how the one before ended', () => {
    const seen = observed([container({ name: 'app', attempt: 1 }), exited('app', 7, { createdAtNanos: 0n })])
    const [status] = statusOf({}, seen).containerStatuses
    expect(status).toMatchObject({
      ready: true,
      started: true,
      restartCount: 1,
      lastState: { terminated: { exitCode: 7 } },
      containerID: 'containerd://app#1',
    })
  })
  test('a sidecar that runs is ready, an init container that ended well too', () => {
    const spec = {
      initContainers: [
        { name: 'i', image },
        { name: 's', image, restartPolicy: 'Always' },
      ],
    }
    const seen = observed([exited('i', 0, { kind: 'init' }), container({ name: 's', kind: 'sidecar' })])
    expect(statusOf(spec, seen).initContainerStatuses?.map((c) => c.ready)).toEqual([true, true])
  })
})

describe('conditions', () => {
  const words = (seen: ObservedPod, spec: object = {}, more: Partial<PodStatusInput> = {}) =>
    statusOf(spec, seen, more).conditions.map(
      (c) => `${c.type}=${c.status}${c.reason === undefined ? '' : ` ${c.reason}`}`,
    )

  test('a pod that runs', () => {
    expect(words(observed([container({ name: 'app' })]))).toEqual([
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
      'PodScheduled=True',
    ])
  })
  test('a pod that starts', () => {
    expect(words(observed([], []), withInit)).toEqual([
      'PodReadyToStartContainers=False PodSandboxNotReady',
      'Initialized=False ContainersNotInitialized',
      'Ready=False ContainersNotReady',
      'ContainersReady=False ContainersNotReady',
      'PodScheduled=True',
    ])
  })
  test('a pod that is done', () => {
    expect(words(observed([exited('app', 0)], [deadSandbox]), never)).toContain('Ready=False PodCompleted')
  })
  test('a condition that stays keeps its time', () => {
    const before = statusOf({}, observed([]))
    const after = statusOf({}, observed([container({ name: 'app' })]), {
      before,
      nowNanos: now + 60_000_000_000n,
    })
    const time = (type: string) => after.conditions.find((c) => c.type === type)?.lastTransitionTime
    expect(time('PodScheduled')).toBe('2023-11-14T22:13:20Z')
    expect(time('Ready')).toBe('2023-11-14T22:14:20Z')
  })
})

test('addresses: of the sandbox, or of the host', () => {
  expect(statusOf({}, observed([]))).toMatchObject({ podIP: '10.0.0.2', hostIP: '192.168.0.1' })
  expect(statusOf({ hostNetwork: true }, observed([]))).toMatchObject({ podIP: '192.168.0.1' })
})

test('the whole object has what an API server would have filled in', () => {
  const spec = specOf({}, { labels: { a: 'b' } })
  const status = podStatus({ ...base, spec, observed: observed([]) })
  const pod = podDocument(spec, status, { nodeName: 'n1', createdAtNanos: now, endingSinceNanos: undefined })
  expect(pod).toMatchObject({
    kind: 'Pod',
    metadata: { name: 'web', uid: 'u1', labels: { a: 'b' } },
    spec: {
      nodeName: 'n1',
      restartPolicy: 'Always',
      containers: [{ name: 'app', imagePullPolicy: 'IfNotPresent' }],
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })
})

test('times go out and come back', () => {
  expect(formatTime(now)).toBe('2023-11-14T22:13:20Z')
  expect(parseTime(formatTimeNano(now + 5n))).toBe(now + 5n)
  expect(parseTime('2023-11-14T23:13:20.1+01:00')).toBe(now + 100_000_000n)
  expect(parseTime('yesterday')).toBeUndefined()
})

describe('the image of a container', () => {
  const spec = { containers: [{ name: 'app', image: 'registry.example/app:2' }] }
  const seen = (hash: string) =>
    statusOf(spec, observed([container({ name: 'app', image: 'registry.example/app:1', hash })]))
      .containerStatuses[0]?.image

  test('is what it was created with, though the runtime names it by another tag', () =>
    expect(seen(containerHash({ name: 'app', image: 'registry.example/app:2' }))).toBe(
      'registry.example/app:2',
    ))
  test('is what the runtime says of a container with another definition', () =>
    expect(seen('1')).toBe('registry.example/app:1'))
})

describe('probes and gates', () => {
  const probed = { containers: [{ name: 'app', image, readinessProbe: { tcpSocket: { port: 1 } } }] }
  const seen = observed([container({ name: 'app' })])
  const ready = new Map([['app#0', { started: true, ready: true, failed: undefined }]])
  const conditionOf = (spec: object, type: string, more: Partial<PodStatusInput>) =>
    statusOf(spec, seen, more).conditions.find((c) => c.type === type)

  test('a container with a readiness probe is not ready before its first result', () => {
    expect(statusOf(probed, seen).containerStatuses[0]).toMatchObject({ started: true, ready: false })
    expect(statusOf(probed, seen, { health: ready }).containerStatuses[0]).toMatchObject({ ready: true })
  })

  test('a gate keeps the pod from being ready, not its containers', () => {
    const gated = { ...probed, readinessGates: [{ conditionType: 'example.com/lb' }] }
    expect(conditionOf(gated, 'ContainersReady', { health: ready })).toMatchObject({ status: 'True' })
    expect(conditionOf(gated, 'Ready', { health: ready })).toMatchObject({
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message: 'corresponding condition of pod readiness gate "example.com/lb" does not exist.',
    })
    const foreign = (status: 'True' | 'False') => [
      { type: 'example.com/lb', status, lastProbeTime: null, lastTransitionTime: '' },
    ]
    expect(conditionOf(gated, 'Ready', { health: ready, foreign: foreign('False') })?.message).toBe(
      'the status of pod readiness gate "example.com/lb" is not "True", but False',
    )
    expect(conditionOf(gated, 'Ready', { health: ready, foreign: foreign('True') })).toMatchObject({
      status: 'True',
    })
  })
})

test('a mount is recursively read-only where the runtime made it so', () => {
  const mount = (mountPath: string, more: object = {}) => ({ name: 'v', mountPath, readOnly: true, ...more })
  const volumeMounts = [
    mount('/rro', { recursiveReadOnly: 'IfPossible' }),
    mount('/ro'),
    { name: 'v', mountPath: '/rw' },
  ]
  const spec = { volumes: [{ name: 'v', emptyDir: {} }], containers: [{ name: 'app', image, volumeMounts }] }
  const mountsOf = (recursiveReadOnly: readonly string[]) =>
    statusOf(spec, observed([container({ name: 'app', recursiveReadOnly })])).containerStatuses[0]
      ?.volumeMounts
  expect(mountsOf(['/rro'])).toEqual([
    { name: 'v', mountPath: '/rro', readOnly: true, recursiveReadOnly: 'Enabled' },
    { name: 'v', mountPath: '/ro', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'v', mountPath: '/rw' },
  ])
  expect(mountsOf([])?.[0]?.recursiveReadOnly).toBe('Disabled')
})

test('an init container that the runtime has forgotten has completed, once an app container was created', () => {
  const initOf = (seen: ObservedPod) => statusOf(withInit, seen).initContainerStatuses?.[0]
  expect(initOf(observed([container({ name: 'app' })]))).toMatchObject({
    ready: true,
    state: { terminated: { exitCode: 0, reason: 'Completed' } },
  })
  expect(initOf(observed([]))?.state).toEqual({ waiting: { reason: 'PodInitializing' } })
})
