// Registration, status and Lease over an API server in memory that refuses on demand, with a clock moved by hand.
import { afterEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../fakes/clock.js'
import { type FakeCall, FakeKubeApi } from '../../fakes/kube-api.js'
import { FakeLog } from '../../fakes/log.js'
import { createApiContact } from './api-contact.js'
import { renewLease } from './renew-lease.js'

const stop: AbortController[] = []
afterEach(() => {
  for (const controller of stop.splice(0)) controller.abort()
})

function leaseOf(api: FakeKubeApi, nodeUid: () => string | undefined = () => 'u1') {
  const clock = new FakeClock()
  const log = new FakeLog()
  const controller = new AbortController()
  stop.push(controller)
  const contact = createApiContact(clock, log)
  const done = renewLease({
    api,
    clock,
    contact,
    nodeName: 'n1',
    nodeUid,
    durationSeconds: 40,
    timeoutMs: 10_000,
    random: () => 0,
    signal: controller.signal,
  })
  const settle = async (ms = 0): Promise<void> => {
    if (ms > 0) await clock.advance(ms)
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, log, contact, done, settle, controller }
}
const verbs = (api: FakeKubeApi): string[] => api.calls.splice(0).map((c) => c.verb)
const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1'

describe('the Lease', () => {
  test('created once, then renewed with one call each quarter of its duration', async () => {
    const api = new FakeKubeApi()
    const { settle } = leaseOf(api)
    await settle()
    expect(verbs(api)).toEqual(['get', 'create'])
    for (let i = 0; i < 3; i++) {
      await settle(10_000)
      expect(verbs(api)).toEqual(['replace'])
    }
  })

  test('is not created before there is a Node to own it', async () => {
    const api = new FakeKubeApi()
    let uid: string | undefined
    const { settle } = leaseOf(api, () => uid)
    await settle()
    expect(verbs(api)).toEqual(['get'])
    uid = 'u1'
    await settle(200)
    expect(verbs(api)).toEqual(['get', 'create'])
  })

  test('409: another writer; looked at again and renewed in the same round', async () => {
    const api = new FakeKubeApi()
    const { settle } = leaseOf(api)
    await settle()
    const lease = api.objects.get(path)
    await api.replace(path, { ...lease, metadata: { ...lease?.metadata, labels: { other: 'writer' } } })
    verbs(api)
    await settle(10_000)
    expect(verbs(api)).toEqual(['replace', 'get', 'replace'])
    expect(api.objects.get(path)?.metadata?.labels).toEqual({ other: 'writer' })
  })

  test('removed by someone: created again at the next renewal', async () => {
    const api = new FakeKubeApi()
    const { settle } = leaseOf(api)
    await settle()
    api.objects.delete(path)
    verbs(api)
    await settle(10_000)
    expect(verbs(api)).toEqual(['replace', 'get', 'create'])
  })

  test('an unreachable API server: five tries, connections closed from the second on, said once, then back to normal', async () => {
    const api = new FakeKubeApi()
    const { settle, log, contact } = leaseOf(api)
    await settle()
    verbs(api)
    api.fault = () => FakeKubeApi.refusal(503)
    await settle(10_000)
    expect(verbs(api)).toEqual(['replace', 'replace', 'replace', 'replace', 'replace'])
    expect(api.closedConnections).toBe(4)
    for (let i = 0; i < 100; i++) await settle(7_000)
    expect(log.messages('warn')).toHaveLength(1)
    expect(contact.silentMs()).toBeGreaterThan(600_000)
    api.fault = undefined
    await settle(10_000)
    expect(log.messages('info')).toEqual(['the API server answers heartbeats again'])
    expect(contact.silentMs()).toBeUndefined()
    verbs(api)
    await settle(10_000)
    expect(verbs(api)).toEqual(['replace'])
  })

  test('ends with its signal, also in the middle of a call', async () => {
    const api = new FakeKubeApi()
    const { controller, done, settle } = leaseOf(api)
    await settle()
    api.fault = (call: FakeCall) => {
      controller.abort()
      return FakeKubeApi.refusal(500, call.verb)
    }
    await settle(10_000)
    await done
  })
})
