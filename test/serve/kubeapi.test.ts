// The calls to the API server as it sees them: an event as it is stored, connections that stay, credentials that change.
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeCalls, NodeEvent } from '../../src/ports/kube-calls.js'
import { callsOf } from '../support/kube-client.js'
import { type ApiStub, formatKubeconfig, startApiStub } from './api-stub.js'
import { type Authority, createAuthority, createLeaf, type Pair } from './pki.js'
import { temporaryDirectory } from './start.js'

const directory = temporaryDirectory()
const { signal } = new AbortController()
const node = { user: 'system:node:node-1', groups: ['system:nodes'] }
let ca: Authority
let stub: ApiStub
let api: KubeCalls

beforeAll(async () => {
  ca = await createAuthority('cluster-ca')
  stub = await startApiStub(directory.path, ca)
  api = await callsOf(stub.kubeconfig)
})
afterAll(async () => {
  await stub.close()
  directory.remove()
})

const event: NodeEvent = {
  namespace: 'shop',
  name: 'web.17f2a',
  involved: { kind: 'Pod', name: 'web', uid: 'uid-1' },
  type: 'Warning',
  reason: 'FailedMount',
  message: 'the volume is not there',
  component: 'kubelet',
  host: 'node-1',
  firstMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  lastMs: Date.UTC(2026, 0, 2, 3, 5, 5),
  count: 3,
}

describe('createEvent', () => {
  test('of a pod: whole, in the namespace of the pod', async () => {
    await api.createEvent(event, signal)
    expect(stub.events).toEqual([
      {
        path: '/api/v1/namespaces/shop/events',
        body: {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: 'web.17f2a', namespace: 'shop' },
          involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-1', namespace: 'shop' },
          type: 'Warning',
          reason: 'FailedMount',
          message: 'the volume is not there',
          source: { component: 'kubelet', host: 'node-1' },
          reportingComponent: 'kubelet',
          reportingInstance: 'node-1',
          firstTimestamp: '2026-01-02T03:04:05.000Z',
          lastTimestamp: '2026-01-02T03:05:05.000Z',
          count: 3,
        },
      },
    ])
  })

  test('of a node: in `default`, and the node itself has no namespace', async () => {
    const involved = { kind: 'Node', name: 'node-1', uid: 'node-1' }
    await api.createEvent({ ...event, namespace: 'default', involved }, signal)
    expect(stub.events.at(-1)).toMatchObject({ path: '/api/v1/namespaces/default/events' })
    expect(stub.events.at(-1)?.body['involvedObject']).toEqual({ apiVersion: 'v1', ...involved })
  })

  test('a failure says whether asking again can help', async () => {
    stub.setMood('failing')
    await expect(api.createEvent(event, signal)).rejects.toMatchObject({
      code: 'kubeapi.failed',
      message: 'create Event: the API server responded with 500',
      details: { status: 500, retryable: true },
    })
    stub.setMood('well')
  })

  test('a caller that gives up ends the call', async () => {
    const gone = AbortSignal.abort(new Error('ending'))
    await expect(api.createEvent(event, gone)).rejects.toMatchObject({ code: 'kubeapi.failed' })
  })
})

test('a hundred reviews one after the other need one connection', async () => {
  stub.tokens.set('known', { username: 'somebody', groups: ['people'] })
  await api.reviewToken('known', signal)
  const before = stub.connections()
  for (let i = 0; i < 100; i++)
    expect(await api.reviewToken('known', signal)).toMatchObject({ name: 'somebody', groups: ['people'] })
  expect(stub.connections() - before).toBeLessThanOrEqual(1)
})

test('a client certificate that was replaced on disk is shown at the next call', async () => {
  const kubeconfig = join(directory.path, 'with-files')
  const certificate = join(directory.path, 'client.crt')
  const key = join(directory.path, 'client.key')
  const [first, second] = await Promise.all([createLeaf(ca, node), createLeaf(ca, node)])
  const serialOf = ({ certificate: pem }: Pair): string => new X509Certificate(pem).serialNumber
  writeFileSync(certificate, first.certificate)
  writeFileSync(key, first.key)
  const files = { 'client-certificate': certificate, 'client-key': key }
  writeFileSync(kubeconfig, formatKubeconfig(stub.port, ca, files))
  const rotated = await callsOf(kubeconfig)
  await rotated.reviewToken('known', signal)
  expect(stub.shown.at(-1)).toBe(serialOf(first))
  writeFileSync(key, second.key)
  writeFileSync(certificate, second.certificate)
  await rotated.reviewToken('known', signal)
  expect(stub.shown.at(-1)).toBe(serialOf(second))
})
