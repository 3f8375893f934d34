import { describe, expect, test } from 'vitest'
import { container, exited, image, observed, specOf } from '../../../test/support/pod-manifest.js'
import type { ObservedPod } from '../../kubelet/pods/decide/observed.js'
import { podStatus } from '../../kubelet/pods/decide/status/status.js'
import { describePod } from './description.js'
import { podDocument } from './document.js'
import { formatAge, formatColumns, podRow } from './printing.js'

const now = 1_700_000_000_000_000_000n
const second = 1_000_000_000n

function pod(
  spec: object,
  seen: ObservedPod,
  waiting = new Map<string, { reason: string; message: string }>(),
  ending?: bigint,
) {
  const read = specOf({ ...spec })
  const status = podStatus({
    spec: read,
    observed: seen,
    waiting,
    sandboxProblem: undefined,
    hostIPs: [],
    startedAtNanos: now,
    runtimeName: 'containerd',
    nowNanos: now,
    before: undefined,
  })
  return podDocument(read, status, {
    nodeName: 'n1',
    createdAtNanos: now - 90n * second,
    endingSinceNanos: ending,
  })
}
const withInit = {
  initContainers: [
    { name: 'i', image },
    { name: 's', image, restartPolicy: 'Always' },
  ],
}
const side = container({ name: 's', kind: 'sidecar' })
const done = exited('i', 0, { kind: 'init' })
const crash = (name: string) => new Map([[name, { reason: 'CrashLoopBackOff', message: '' }]])

describe('STATUS and READY', () => {
  for (const { name, given, status, ready } of [
    {
      name: 'running',
      given: pod({}, observed([container({ name: 'app' })])),
      status: 'Running',
      ready: '1/1',
    },
    { name: 'creating', given: pod({}, observed([])), status: 'ContainerCreating', ready: '0/1' },
    {
      name: 'crash loop',
      given: pod({}, observed([exited('app', 1)]), crash('app')),
      status: 'CrashLoopBackOff',
      ready: '0/1',
    },
    {
      name: 'done',
      given: pod({ restartPolicy: 'Never' }, observed([exited('app', 0)])),
      status: 'Completed',
      ready: '0/1',
    },
    {
      name: 'failed',
      given: pod({ restartPolicy: 'Never' }, observed([exited('app', 1)])),
      status: 'Error',
      ready: '0/1',
    },
    {
      name: 'out of memory',
      given: pod({ restartPolicy: 'Never' }, observed([exited('app', 137, { reason: 'OOMKilled' })])),
      status: 'OOMKilled',
      ready: '0/1',
    },
    {
      name: 'init runs',
      given: pod(withInit, observed([container({ name: 'i', kind: 'init' })])),
      status: 'Init:0/2',
      ready: '0/2',
    },
    {
      name: 'init is over, the sidecar comes',
      given: pod(withInit, observed([done])),
      status: 'Init:1/2',
      ready: '0/2',
    },
    {
      name: 'init fails',
      given: pod(withInit, observed([exited('i', 1, { kind: 'init' })]), crash('i')),
      status: 'Init:CrashLoopBackOff',
      ready: '0/2',
    },
    {
      name: 'a sidecar counts',
      given: pod(withInit, observed([done, side, container({ name: 'app' })])),
      status: 'Running',
      ready: '2/2',
    },
    {
      name: 'ending',
      given: pod({}, observed([container({ name: 'app' })]), new Map(), now),
      status: 'Terminating',
      ready: '1/1',
    },
  ])
    test(name, () => expect(podRow(given, now)).toMatchObject({ status, ready }))
})

test('restarts with the time of the last', () => {
  const seen = observed([
    container({ name: 'app', attempt: 3 }),
    exited('app', 1, { attempt: 2, createdAtNanos: 0n, finishedAtNanos: now - 5n * second }),
  ])
  expect(podRow(pod({}, seen), now)).toMatchObject({
    restarts: '3 (5s ago)',
    age: '90s',
    node: 'n1',
    ip: '10.0.0.2',
  })
})

for (const [seconds, text] of [
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [130, '2m10s'],
  [601, '10m'],
  [3 * 3600, '3h'],
  [5 * 3600 + 60, '5h1m'],
  [30 * 3600, '30h'],
  [3 * 86400 + 3600, '3d1h'],
  [20 * 86400 + 5, '20d'],
] as const)
  test(`${seconds} seconds are ${text}`, () => expect(formatAge(BigInt(seconds) * second)).toBe(text))

test('columns', () =>
  expect(
    formatColumns([
      ['A', 'B'],
      ['long', 'x'],
    ]),
  ).toBe('A      B\nlong   x\n'))

test('a description names what matters', () => {
  const seen = observed([exited('app', 137, { reason: 'OOMKilled', message: 'too much' })])
  const text = describePod(
    pod(
      {
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [{ name: 'app', image, command: ['x', 'y'], resources: { limits: { memory: '1Gi' } } }],
      },
      seen,
      crash('app'),
    ),
  )
  for (const part of [
    'Name:             web',
    'Waiting',
    'CrashLoopBackOff',
    'OOMKilled',
    'too much',
    'Exit Code:    137',
    'memory=1Gi',
    'x y',
    'Volumes:',
    'ContainersNotReady',
  ])
    expect(text).toContain(part)
})
