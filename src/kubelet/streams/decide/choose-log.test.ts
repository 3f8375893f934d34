import { expect, test } from 'vitest'
import type { PodJson } from '../../../core/pod/document.js'
import { nothingObserved, type ObservedContainer, type ObservedPod } from '../../pods/decide/observed.js'
import { chooseLog } from './choose-log.js'

const container = (id: string, over: Partial<ObservedContainer> = {}) =>
  ({ id, name: 'app', attempt: 0, state: 'exited', ...over }) as ObservedContainer
const seen = (...containers: ObservedContainer[]): ObservedPod => ({
  ...nothingObserved('u', 'web', 'shop'),
  containers,
})
const pod = (reason?: string): PodJson =>
  ({
    spec: { containers: [{ name: 'app' }], ephemeralContainers: [{ name: 'debug' }] },
    status: {
      containerStatuses: reason === undefined ? [] : [{ name: 'app', state: { waiting: { reason } } }],
    },
  }) as unknown as PodJson
const choose = (
  over: { readonly container?: string; readonly previous?: boolean },
  observed: ObservedPod | undefined,
  known: PodJson | undefined,
) => {
  const choice = chooseLog({ pod: 'web', container: 'app', previous: false, ...over }, observed, known)
  return choice.kind === 'log' ? choice.container.id : `${choice.code}: ${choice.message}`
}

test('the newest instance; with previous the one before', () => {
  const twice = seen(container('2', { attempt: 1, state: 'running' }), container('1'))
  expect(choose({}, twice, pod())).toBe('2')
  expect(choose({ previous: true }, twice, pod())).toBe('1')
  expect(choose({ previous: true }, seen(container('1', { state: 'running' })), pod())).toBe(
    'pod.not-started: previous terminated container "app" in pod "web" not found',
  )
})

test('no pod, no such container', () => {
  expect(choose({}, undefined, undefined)).toBe('pod.not-found: pod "web" does not exist')
  expect(choose({ container: 'db' }, seen(container('1')), pod())).toBe(
    'pod.not-found: container "db" not found in pod "web"',
  )
  expect(choose({ container: 'debug' }, seen(), pod())).toBe(
    'pod.not-started: container "debug" in pod "web" is not available',
  )
})

for (const [reason, words] of [
  ['ContainerCreating', 'ContainerCreating'],
  ['ErrImagePull', "image can't be pulled"],
  ['ImagePullBackOff', 'trying and failing to pull image'],
] as const)
  test(`waiting with ${reason}`, () => {
    expect(choose({}, seen(), pod(reason))).toBe(
      `pod.not-started: container "app" in pod "web" is waiting to start: ${words}`,
    )
  })
