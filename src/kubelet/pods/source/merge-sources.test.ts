import { expect, test } from 'vitest'
import { manifest, specOf } from '../../../../test/support/pod-manifest.js'
import { FakeKubeApi } from '../../../fakes/kube-api.js'
import type { WantedPods } from '../decide/wanted-pod.js'
import { ApiSource } from './api-source.js'
import { mergeSources } from './merge-sources.js'
import type { StaticPods } from './static-source.js'

const stop = new AbortController()
const clock = { nowNanos: () => 1_700_000_000_000_000_000n }
const path = '/api/v1/namespaces/default/pods'

async function* once(pods: StaticPods) {
  yield pods
  await new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
}
const next = async (wanted: AsyncGenerator<WantedPods>): Promise<WantedPods> => {
  const { value } = await wanted.next()
  if (value === undefined) throw new Error('the sources have ended')
  return value
}

test('static pods are wanted before the API server answers, and only then is everything known', async () => {
  const api = new FakeKubeApi()
  const source = new ApiSource({ api, clock, nodeName: 'n1' })
  const spec = specOf()
  const files = once({
    pods: new Map([['u1', { spec, file: '/m/web.yaml', changedAtNanos: 0n, recreated: 0 }]]),
    broken: new Set(),
  })
  const wanted = mergeSources({ files, api: source.watch(stop.signal) }, stop.signal)
  const first = await next(wanted)
  expect([...first.pods.keys()]).toEqual(['u1'])
  expect(first.complete).toBe(false)

  await api.create(path, { ...manifest({}, { name: 'api', uid: 'u2' }) })
  const following = source.follow(stop.signal)
  const second = await next(wanted)
  expect([...second.pods.keys()]).toEqual(['u1', 'u2'])
  expect(second.complete).toBe(true)
  expect(second.pods.get('u1')).toBe(first.pods.get('u1'))

  // A status is no news for the runner, but is known.
  await api.patch(`${path}/api/status`, 'strategic', { status: { phase: 'Running' } })
  expect(source.object('u2')?.status?.phase).toBe('Running')
  await api.patch(`${path}/api`, 'merge', { metadata: { labels: { a: 'b' } } })
  const third = await next(wanted)
  expect(third.pods.get('u2')?.spec?.labels.get('a')).toBe('b')

  // A mirror of a static pod is known, and not run.
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'h' } }
  await api.create(path, { ...manifest({}, { name: 'mirror', uid: 'u3', ...mirror }) })
  expect(source.object('u3')).toBeDefined()

  await api.remove(`${path}/api`)
  const fourth = await next(wanted)
  expect([...fourth.pods.keys()]).toEqual(['u1'])
  expect(source.object('u2')).toBeUndefined()
  stop.abort()
  await following
})
