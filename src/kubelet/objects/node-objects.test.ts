import { afterEach, expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import type { ConfigMap, KubeObject, TokenRequest } from '../../core/kube/objects.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import type { KubeApi, ObjectStore } from '../../ports/kube-api.js'
import { createNodeObjects } from './node-objects.js'

interface Watch {
  readonly path: string
  readonly selector: string | undefined
  readonly store: ObjectStore
  readonly signal: AbortSignal
}

const ending: AbortController[] = []
afterEach(() => {
  for (const one of ending.splice(0)) one.abort()
})

/** Watches are answered by the test; a token is worth an hour. */
function setUp() {
  const watches: Watch[] = []
  const end = new AbortController()
  ending.push(end)
  const clock = new FakeClock()
  const tokens: { fails: boolean; requests: TokenRequest[] } = { fails: false, requests: [] }
  const api: Pick<KubeApi, 'follow' | 'create' | 'get'> = {
    get: () => Promise.resolve(undefined),
    follow: (path, { fieldSelector }, store, signal) => {
      watches.push({ path, selector: fieldSelector, store, signal })
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
    create: async <T extends KubeObject>(_path: string, object: T): Promise<T> => {
      if (tokens.fails) throw keelsonError('kubeapi.failed', 'unreachable')
      tokens.requests.push(object as unknown as TokenRequest)
      const ends = new Date(Number(clock.nowNanos() / 1_000_000n) + 3_600_000).toISOString()
      return { ...object, status: { token: `t${tokens.requests.length}`, expirationTimestamp: ends } }
    },
  }
  const log = new FakeLog()
  const objects = createNodeObjects({ api, clock, log, syncMs: 60_000, random: () => 0, signal: end.signal })
  const open = (): readonly Watch[] => watches.filter((w) => w.selector !== undefined && !w.signal.aborted)
  const watchOf = (name: string): Watch => {
    const found = open().find((w) => w.selector === `metadata.name=${name}`)
    if (found === undefined) throw new Error(`no watch of ${name}`)
    return found
  }
  return { objects, clock, tokens, log, open, watchOf, watches, signal: end.signal }
}

const map = (name: string, version: string, more: Partial<ConfigMap> = {}): ConfigMap => ({
  metadata: { name, namespace: 'shop', uid: `u-${name}`, resourceVersion: version },
  data: { key: `value ${version}` },
  ...more,
})
const first = { namespace: 'shop', uid: 'p1' }
const second = { namespace: 'shop', uid: 'p2' }
const ref = (name: string, kind: 'configMap' | 'secret' = 'configMap') => ({ kind, name })

test('one watch by name for an object of many pods; it ends with the last of them', () => {
  const { objects, open } = setUp()
  objects.register(first, [ref('a'), ref('a', 'secret')])
  objects.register(second, [ref('a'), ref('a')])
  expect(open().map(({ path, selector }) => `${path} ${selector}`)).toEqual([
    '/api/v1/namespaces/shop/configmaps metadata.name=a',
    '/api/v1/namespaces/shop/secrets metadata.name=a',
  ])
  objects.release('p1')
  expect(open()).toHaveLength(1)
  objects.release('p2')
  expect(open()).toHaveLength(0)
})

test('registered again with other references: what is not named any more is let go', () => {
  const { objects, open } = setUp()
  objects.register(first, [ref('a'), ref('b')])
  objects.register(first, [ref('b')])
  expect(open().map((w) => w.selector)).toEqual(['metadata.name=b'])
})

test('the first read waits for the cache; missing is a value, and changes are seen', async () => {
  const { objects, watchOf, signal } = setUp()
  objects.register(first, [ref('a')])
  const reading = objects.configMap('shop', 'a', signal)
  const { store } = watchOf('a')
  store.replace([map('other', '1')])
  expect(await reading).toBeUndefined()
  store.put(map('a', '2'))
  expect((await objects.configMap('shop', 'a', signal))?.data).toEqual({ key: 'value 2' })
  store.remove(map('a', '3'))
  expect(await objects.configMap('shop', 'a', signal)).toBeUndefined()
})

test('a cache that hears nothing fails the read after seconds, as upstream says it', async () => {
  const { objects, clock, signal } = setUp()
  objects.register(first, [ref('a', 'secret')])
  const reading = objects.secret('shop', 'a', signal)
  const failed = expect(reading).rejects.toThrow(
    'failed to sync secret cache: timed out waiting for the condition',
  )
  await clock.advance(3_000)
  await failed
})

test('what no pod refers to cannot be read', async () => {
  const { objects, signal } = setUp()
  await expect(objects.configMap('shop', 'a', signal)).rejects.toThrow('object "shop"/"a" not registered')
})

test('pods that refer to it are told of a change, not of the first content nor of the same again', () => {
  const { objects, watchOf } = setUp()
  const heard: (readonly string[])[] = []
  objects.onChange((uids) => heard.push(uids))
  objects.register(first, [ref('a')])
  objects.register(second, [ref('a')])
  const { store } = watchOf('a')
  store.replace([map('a', '1')])
  store.replace([map('a', '1')])
  expect(heard).toEqual([])
  store.put(map('a', '2'))
  expect(heard).toEqual([['p1', 'p2']])
})

test('an immutable object is read without a watch from then on', async () => {
  const { objects, open, watchOf, signal } = setUp()
  objects.register(first, [ref('a')])
  watchOf('a').store.replace([map('a', '1', { immutable: true })])
  expect(open()).toHaveLength(0)
  expect((await objects.configMap('shop', 'a', signal))?.data).toEqual({ key: 'value 1' })
  expect(open()).toHaveLength(0)
})

test('a watch that is not read rests, and the next read begins it again', async () => {
  const { objects, clock, open, watchOf, signal } = setUp()
  objects.register(first, [ref('a')])
  watchOf('a').store.replace([map('a', '1')])
  for (let minute = 0; minute < 6; minute += 1) await clock.advance(60_000)
  expect(open()).toHaveLength(0)
  const reading = objects.configMap('shop', 'a', signal)
  watchOf('a').store.replace([map('a', '2')])
  expect((await reading)?.data).toEqual({ key: 'value 2' })
})

test('managed fields and the last applied copy are not kept in memory', async () => {
  const { objects, watchOf, signal } = setUp()
  objects.register(first, [ref('a')])
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(1000) }
  const found = map('a', '1')
  watchOf('a').store.replace([{ ...found, metadata: { ...found.metadata, annotations } }])
  expect(JSON.stringify(await objects.configMap('shop', 'a', signal))).not.toContain('xxx')
})

test('services: undefined before the list, then with what variables are made of', () => {
  const { objects, watches } = setUp()
  expect(objects.services()).toBeUndefined()
  const { store } = watches.find((w) => w.path === '/api/v1/services') as Watch
  const metadata = { name: 'web', namespace: 'shop', labels: { a: 'b' } }
  const spec = { clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30_000 }], selector: { app: 'web' } }
  store.replace([{ metadata, spec } as KubeObject])
  expect(objects.services()).toEqual([
    { metadata: { name: 'web', namespace: 'shop' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } },
  ])
})

const question = {
  pod: { namespace: 'shop', name: 'web', uid: 'p1' },
  serviceAccount: 'default',
  audience: '',
  expirationSeconds: 3607,
}

test('tokens: bound to the pod, kept, asked for anew with a fifth of their life left', async () => {
  const { objects, clock, tokens, signal } = setUp()
  expect(await objects.token(question, signal)).toBe('t1')
  expect(tokens.requests[0]?.spec).toEqual({
    audiences: [],
    expirationSeconds: 3607,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'p1' },
  })
  expect(await objects.token(question, signal)).toBe('t1')
  expect(await objects.token({ ...question, audience: 'vault' }, signal)).toBe('t2')
  await clock.advance(48.2 * 60_000)
  expect(await objects.token(question, signal)).toBe('t3')
})

test('tokens: without the API server the old one is used until it expires, and not a second longer', async () => {
  const { objects, clock, tokens, signal } = setUp()
  await objects.token(question, signal)
  tokens.fails = true
  await clock.advance(59 * 60_000)
  expect(await objects.token(question, signal)).toBe('t1')
  await clock.advance(2 * 60_000)
  await expect(objects.token(question, signal)).rejects.toThrow('failed to fetch token')
})

test('tokens of a pod that has gone are forgotten', async () => {
  const { objects, signal } = setUp()
  await objects.token(question, signal)
  objects.release('p1')
  expect(await objects.token(question, signal)).toBe('t2')
})
