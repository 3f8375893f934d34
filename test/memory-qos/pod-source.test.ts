// The two pod sources against a real HTTP server: pages, bookmarks, expiry, torn streams, refusals.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createKubeletApi, createKubeletPods } from '../../src/adapters/kubeapi/kubelet-api.js'
import { createPodWatch } from '../../src/adapters/kubeapi/pod-watch.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { PodSource } from '../../src/ports/pod-source.js'
import { stubClient } from '../support/kube-client.js'
import { type ApiStub, startApiStub } from './api-stub.js'

const pod = (uid: string, label = ''): object => ({
  metadata: { name: uid, uid, labels: { label } },
  spec: { containers: [{ name: 'app' }] },
})

const open: { stub: ApiStub; stop: AbortController; done: Promise<void> }[] = []
afterEach(async () => {
  for (const { stub, stop, done } of open.splice(0)) {
    stop.abort()
    await done
    await stub.close()
  }
})

async function follow(
  make: (stub: ApiStub) => PodSource,
): Promise<{ stub: ApiStub; source: PodSource; changes: () => number }> {
  const stub = await startApiStub()
  for (const uid of ['a', 'b', 'c']) stub.put(uid, pod(uid))
  const source = make(stub)
  const stop = new AbortController()
  let changes = 0
  const done = source.follow(() => changes++, stop.signal)
  open.push({ stub, stop, done })
  return { stub, source, changes: () => changes }
}

async function until(what: () => boolean, why: string): Promise<void> {
  for (const end = Date.now() + 5000; !what(); await sleep(5)) if (Date.now() > end) expect.fail(why)
}

const uids = (source: PodSource): string =>
  (source.current() ?? [])
    .map((p) => (p as { metadata: { uid: string } }).metadata.uid)
    .sort()
    .join('')

describe('the API server', () => {
  const watchPods =
    (log = new FakeLog()) =>
    (stub: ApiStub) =>
      createPodWatch(stubClient({ url: stub.url, log }), 'n1')

  test('a list in pages, of this node alone, then changes as they come', async () => {
    const { stub, source, changes } = await follow(watchPods())
    await until(() => uids(source) === 'abc' && stub.watching === 1, 'no list')
    expect(stub.requests[0]).toContain('fieldSelector=spec.nodeName%3Dn1')
    expect(stub.requests.filter((r) => !r.includes('watch=true'))).toHaveLength(2)
    const before = changes()
    stub.put('d', pod('d'))
    stub.remove('a')
    await until(() => uids(source) === 'bcd', 'no change')
    expect(changes()).toBe(before + 2)
  })

  test('a stream that ends goes on from the last bookmark without a list', async () => {
    const { stub, source } = await follow(watchPods())
    await until(() => stub.watching === 1, 'no watch')
    stub.bookmark()
    await sleep(50)
    stub.endWatches('clean')
    await until(() => stub.requests.filter((r) => r.includes('watch=true')).length === 2, 'no second watch')
    expect(stub.requests.at(-1)).toContain('resourceVersion=104')
    expect(stub.requests.filter((r) => !r.includes('watch=true'))).toHaveLength(2)
    stub.put('e', pod('e'))
    await until(() => uids(source) === 'abce', 'no change')
  })

  test('an expired watch lists again, and pods that went meanwhile are gone', async () => {
    const { stub, source } = await follow(watchPods())
    await until(() => stub.watching === 1, 'no watch')
    stub.pods.delete('b')
    stub.endWatches('expired')
    await until(() => uids(source) === 'ac', 'the pod stayed')
    stub.put('f', pod('f'))
    await until(() => uids(source) === 'acf', 'no change afterwards')
  })

  test('a stream torn in the middle of a line, and a server that is busy: the last list stays, then goes on', async () => {
    const log = new FakeLog()
    const { stub, source } = await follow(watchPods(log))
    await until(() => stub.watching === 1, 'no watch')
    stub.refusals.push(503, 429)
    stub.endWatches('torn')
    await until(() => log.messages('warn').length >= 2, 'no warning')
    expect(uids(source)).toBe('abc')
    stub.put('g', pod('g'))
    await until(() => uids(source) === 'abcg', 'no change')
  })

  test('before the first list nothing is said', async () => {
    const stub = await startApiStub()
    stub.refusals.push(...Array.from({ length: 50 }, () => 500))
    const source = watchPods()(stub)
    const stop = new AbortController()
    open.push({ stub, stop, done: source.follow(() => {}, stop.signal) })
    await sleep(60)
    expect(source.current()).toBeUndefined()
  })
})

describe("the kubelet's /pods", () => {
  const pollPods = (stub: ApiStub) =>
    createKubeletPods({
      api: createKubeletApi({ url: stub.url }),
      clock: createClock(),
      log: new FakeLog(),
      periodMs: 20,
    })

  test('asked again and again; only a difference is a change', async () => {
    const { stub, source, changes } = await follow(pollPods)
    await until(() => stub.requests.length > 3, 'not asked again')
    expect(uids(source)).toBe('abc')
    expect(changes()).toBe(1)
    stub.put('d', pod('d'))
    await until(() => uids(source) === 'abcd', 'no change')
  })

  test('a kubelet that restarts: the last list stays', async () => {
    const { stub, source } = await follow(pollPods)
    await until(() => uids(source) === 'abc', 'no list')
    stub.refusals.push(503, 503, 503)
    const asked = stub.requests.length
    await until(() => stub.requests.length > asked + 3, 'not asked again')
    expect(uids(source)).toBe('abc')
  })
})
