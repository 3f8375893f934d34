// The objects that pods of a node refer to, read with a node's own credential from a real API server with Node authorizer and
// NodeRestriction: the first refusal before the authorizer knows of the pod, watches by name, changes, immutable objects, tokens.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createClock } from '../../src/adapters/clock/clock.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createNodeObjects, type NodeObjects } from '../../src/kubelet/objects/node-objects.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import { type RealControlPlane, startRealControlPlane } from '../support/real-control-plane.js'

const nodeName = 'objects-1'
let plane: RealControlPlane
let api: KubeApi
let objects: NodeObjects
const end = new AbortController()
const { signal } = end
const log = new FakeLog()
const base = '/api/v1/namespaces/default'

beforeAll(async () => {
  plane = await startRealControlPlane({ auditLog: true })
  api = await openKubeApi({
    kubeconfig: await plane.issueNodeKubeconfig(nodeName),
    log,
    version: 'test',
  })
  await plane.client.create('/api/v1/nodes', { metadata: { name: nodeName } })
  objects = createNodeObjects({ api, clock: createClock(), log, syncMs: 60_000, signal })
  // Without it no pod is admitted.
  const account = () => plane.client.getObject(`${base}/serviceaccounts/default`)
  await vi.waitUntil(async () => (await account()) !== undefined, { timeout: 60_000, interval: 200 })
})
afterAll(async () => {
  end.abort()
  api?.close()
  await plane?.close()
})

const createMap = (name: string, more: object = {}): Promise<void> =>
  plane.client.create(`${base}/configmaps`, { metadata: { name }, data: { key: 'one' }, ...more })

async function createPod(
  name: string,
  volumes: readonly object[],
): Promise<{ namespace: string; uid: string }> {
  await plane.client.create(`${base}/pods`, {
    metadata: { name },
    spec: { nodeName, containers: [{ name: 'c', image: 'x' }], volumes },
  })
  const made = await plane.client.getObject<{ metadata: { uid: string } }>(`${base}/pods/${name}`)
  return { namespace: 'default', uid: made?.metadata.uid ?? '' }
}
/** Watches of single config maps and secrets that the API server serves now. */
async function servedWatches(): Promise<number> {
  const metrics = (await plane.client.get('/metrics')) ?? ''
  return metrics
    .split('\n')
    .filter((line) =>
      /^apiserver_longrunning_requests\{.*resource="(configmaps|secrets)".*scope="resource"/.test(line),
    )
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
const mapVolume = (name: string) => ({ name, configMap: { name } })

test('an object that is read before the authorizer knows of the pod is there a moment later', async () => {
  await createMap('early')
  const refs = [{ kind: 'configMap', name: 'early' }] as const
  objects.register({ namespace: 'default', uid: 'not-yet' }, refs)
  await expect(objects.configMap('default', 'early', signal)).rejects.toThrow(
    'failed to sync configmap cache',
  )
  const pod = await createPod('early', [mapVolume('early')])
  objects.register(pod, refs)
  objects.release('not-yet')
  await expect
    .poll(() => objects.configMap('default', 'early', signal).catch(() => undefined), { timeout: 60_000 })
    .toMatchObject({ data: { key: 'one' } })
  objects.release(pod.uid)
})

test('a change, a deletion and a new object of the name reach the readers, with one watch by name', async () => {
  await createMap('changing')
  const pod = await createPod('changing', [mapVolume('changing')])
  const told: string[] = []
  const stopListening = objects.onChange((uids) => told.push(...uids))
  objects.register(pod, [{ kind: 'configMap', name: 'changing' }])
  objects.register(pod, [{ kind: 'configMap', name: 'changing' }])
  const read = async () =>
    (await objects.configMap('default', 'changing', signal).catch(() => undefined))?.data?.['key']
  await expect.poll(read, { timeout: 20_000 }).toBe('one')
  for (let turn = 0; turn < 100; turn += 1)
    await plane.client.patch(`${base}/configmaps/changing`, { data: { key: `turn ${turn}` } })
  await expect.poll(read).toBe('turn 99')
  expect(told).toContain(pod.uid)
  await plane.client.remove(`${base}/configmaps/changing`)
  await expect.poll(() => objects.configMap('default', 'changing', signal)).toBeUndefined()
  await createMap('changing')
  await expect.poll(read).toBe('one')
  stopListening()
  objects.release(pod.uid)
  const audit = await readFile(plane.auditLog ?? '', 'utf8')
  const uris = audit
    .split('\n')
    .filter(
      (line) => line.includes('/configmaps?') && line.includes('watch=true') && line.includes('changing'),
    )
    .flatMap((line) => /"requestURI":"([^"]+)"/.exec(line)?.[1] ?? [])
  expect(new Set(uris).size).toBe(1)
  expect(uris[0]).toContain('fieldSelector=metadata.name%3Dchanging')
})

test('immutable: no watch is held, and the content stays', async () => {
  await createMap('fixed', { immutable: true })
  const pod = await createPod('fixed', [mapVolume('fixed')])
  objects.register(pod, [{ kind: 'configMap', name: 'fixed' }])
  const read = () => objects.configMap('default', 'fixed', signal).catch(() => undefined)
  await expect.poll(read, { timeout: 20_000 }).toMatchObject({ data: { key: 'one' } })
  await plane.client.remove(`${base}/configmaps/fixed`)
  expect(await read()).toMatchObject({ data: { key: 'one' } })
  objects.release(pod.uid)
})

test('a secret of 1 MiB', async () => {
  const data = { big: Buffer.alloc(1_000_000, 7).toString('base64') }
  await plane.client.create(`${base}/secrets`, { metadata: { name: 'big' }, data })
  const pod = await createPod('big', [{ name: 'v', secret: { secretName: 'big' } }])
  objects.register(pod, [{ kind: 'secret', name: 'big' }])
  const read = async () =>
    (await objects.secret('default', 'big', signal).catch(() => undefined))?.data?.['big']?.length
  await expect.poll(read, { timeout: 20_000 }).toBe(data.big.length)
  objects.release(pod.uid)
})

test('a token is bound to its pod and carries the audience; another node does not get one', async () => {
  const token = { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } }
  const pod = await createPod('with-token', [{ name: 't', projected: { sources: [token] } }])
  const question = {
    pod: { ...pod, name: 'with-token' },
    serviceAccount: 'default',
    audience: 'vault',
    expirationSeconds: 600,
  }
  const asked = async () => objects.token(question, signal).catch((e: unknown) => String(e))
  await expect.poll(asked, { timeout: 20_000 }).toMatch(/^ey/)
  const [, body = ''] = (await asked()).split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  expect(claims).toMatchObject({
    aud: ['vault'],
    'kubernetes.io': { pod: { uid: pod.uid, name: 'with-token' } },
  })
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(600)
  await expect(
    objects.token({ ...question, pod: { ...question.pod, uid: 'another' } }, signal),
  ).rejects.toThrow('failed to fetch token: pod "default/with-token"')
})

test('90 watched objects and the calls beside them: one connection to the API server, which takes 100 streams', async () => {
  const names = Array.from({ length: 90 }, (_, i) => `many-${i}`)
  for (const name of names) await createMap(name)
  const pod = await createPod('many', names.map(mapVolume))
  const before = plane.proxy.opened()
  const watchesBefore = await servedWatches()
  const many = await openKubeApi({
    kubeconfig: await plane.throughProxy(await plane.issueNodeKubeconfig(nodeName)),
    log,
    version: 'test',
  })
  const stop = new AbortController()
  const watched = createNodeObjects({
    api: many,
    clock: createClock(),
    log,
    syncMs: 60_000,
    signal: stop.signal,
  })
  try {
    watched.register(
      pod,
      names.map((name) => ({ kind: 'configMap', name })),
    )
    const read = (name: string) => watched.configMap('default', name, signal).catch(() => undefined)
    for (const name of names) await expect.poll(() => read(name), { timeout: 20_000 }).toBeDefined()
    await plane.client.patch(`${base}/configmaps/many-80`, { data: { key: 'two' } })
    await expect.poll(() => read('many-80')).toMatchObject({ data: { key: 'two' } })
    expect(plane.proxy.opened() - before).toBe(1)
    expect((await servedWatches()) - watchesBefore).toBe(names.length)
    // A balancer that restarts: every watch comes back, on one new connection.
    plane.proxy.cut()
    await plane.client.patch(`${base}/configmaps/many-7`, { data: { key: 'after' } })
    await expect.poll(() => read('many-7'), { timeout: 20_000 }).toMatchObject({ data: { key: 'after' } })
    expect(plane.proxy.opened() - before).toBe(2)
  } finally {
    stop.abort()
    many.close()
  }
})

test('services are listed and followed', async () => {
  const names = () => objects.services()?.map(({ metadata }) => metadata?.name)
  await expect.poll(names, { timeout: 20_000 }).toContain('kubernetes')
  await plane.client.create(`${base}/services`, {
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  })
  await expect.poll(names).toContain('web')
})
