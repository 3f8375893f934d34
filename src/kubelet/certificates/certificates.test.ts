// Bootstrap and rotation over an API server in memory whose signer is played by the test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Authority, createAuthority, signRequest } from '../../../test/serve/pki.js'
import { createCertificates } from '../../adapters/certificates/certificates.js'
import type { CertificateSigningRequest } from '../../core/kube/objects.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeKubeApi } from '../../fakes/kube-api.js'
import { FakeLog } from '../../fakes/log.js'
import { bootstrapCertificate } from './bootstrap.js'
import { nodeSubject, servingNames, usagesOf } from './decide/request.js'
import { requestState } from './decide/request-state.js'
import { rotationDueMs, timeForPair } from './decide/rotation.js'
import { keepCertificate } from './rotate.js'

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const certificates = createCertificates()
let ca: Authority
let directory: string
const stop: AbortController[] = []
beforeAll(async () => {
  ca = await createAuthority('cluster')
})
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-certs-'))
})
afterEach(() => {
  for (const controller of stop.splice(0)) controller.abort()
  rmSync(directory, { recursive: true, force: true })
})

const settle = async (): Promise<void> => {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setTimeout(resolve, 1))
}
const requests = (api: FakeKubeApi): CertificateSigningRequest[] =>
  [...api.objects].filter(([p]) => p.startsWith(path)).map(([, o]) => o as CertificateSigningRequest)

/** Approves and signs what waits; the answer of the controller manager. */
async function sign(api: FakeKubeApi, days = 10): Promise<void> {
  for (const csr of requests(api)) {
    if (csr.status?.certificate !== undefined) continue
    const pem = await signRequest(ca, atob(csr.spec?.request ?? ''), days)
    await api.patch(`${path}/${csr.metadata?.name}`, 'merge', {
      status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: btoa(pem) },
    })
  }
}
const setUp = () => {
  const controller = new AbortController()
  stop.push(controller)
  const api = new FakeKubeApi()
  const log = new FakeLog()
  const clock = new FakeClock(BigInt(Date.now()) * 1_000_000n)
  const store = certificates.openStore(directory, 'kubelet-client')
  return { api, log, clock, store, certificates, nodeName: 'n1', signal: controller.signal, controller }
}

describe('bootstrap', () => {
  test('asks once, waits, writes the pair and the kubeconfig', async () => {
    const o = setUp()
    let kubeconfig = 0
    const done = bootstrapCertificate({ ...o, writeKubeconfig: async () => void kubeconfig++ })
    await expect.poll(() => requests(o.api).length).toBe(1)
    const [csr] = requests(o.api)
    expect(csr?.spec).toMatchObject({
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    })
    await sign(o.api)
    await done
    expect(kubeconfig).toBe(1)
    expect((await o.store.current())?.facts).toMatchObject(nodeSubject('n1'))
  })

  test('killed while it waits: the next start takes the same request over, and its certificate', async () => {
    const first = setUp()
    const killed = bootstrapCertificate({ ...first, writeKubeconfig: async () => undefined }).catch(
      () => 'ended',
    )
    await expect.poll(() => requests(first.api).length).toBe(1)
    first.controller.abort(new Error('killed'))
    expect(await killed).toBe('ended')
    await sign(first.api)
    const next = { ...setUp(), api: first.api }
    await bootstrapCertificate({ ...next, writeKubeconfig: async () => undefined })
    expect(requests(first.api)).toHaveLength(1)
    expect(await next.store.current()).toBeDefined()
  })

  test('killed after the pair was written: the key of the pair asks again, and the kubeconfig is written', async () => {
    const first = setUp()
    const failed = bootstrapCertificate({
      ...first,
      writeKubeconfig: async () => {
        throw new Error('killed')
      },
    }).catch(() => 'ended')
    await expect.poll(() => requests(first.api).length).toBe(1)
    await sign(first.api)
    expect(await failed).toBe('ended')
    let written = 0
    await bootstrapCertificate({ ...setUp(), api: first.api, writeKubeconfig: async () => void written++ })
    expect(requests(first.api)).toHaveLength(1)
    expect(written).toBe(1)
  })

  test('an old request whose certificate has ended: a new key asks under a new name', async () => {
    const first = setUp()
    const done = bootstrapCertificate({ ...first, writeKubeconfig: async () => undefined })
    await expect.poll(() => requests(first.api).length).toBe(1)
    await sign(first.api, 1)
    await done
    const later = {
      ...setUp(),
      api: first.api,
      clock: new FakeClock(BigInt(Date.now() + 3 * 86_400_000) * 1_000_000n),
    }
    const again = bootstrapCertificate({ ...later, writeKubeconfig: async () => undefined })
    await expect.poll(() => requests(first.api).length).toBe(2)
    await sign(first.api)
    await again
  })

  test('a request that is denied, or deleted, ends the start with the reason', async () => {
    for (const refuse of [
      async (api: FakeKubeApi, name: string) =>
        void (await api.patch(`${path}/${name}`, 'merge', {
          status: {
            conditions: [{ type: 'Denied', status: 'True', reason: 'NotToday', message: 'who are you' }],
          },
        })),
      async (api: FakeKubeApi, name: string) => void (await api.remove(`${path}/${name}`)),
    ]) {
      const o = setUp()
      const failed = bootstrapCertificate({ ...o, writeKubeconfig: async () => undefined }).catch(
        (e: unknown) => e,
      )
      await expect.poll(() => requests(o.api).length).toBe(1)
      await settle()
      await refuse(o.api, requests(o.api)[0]?.metadata?.name ?? '')
      expect(await failed).toMatchObject({
        code: 'certificate.refused',
        message: expect.stringMatching(/denied \(NotToday: who are you\)|it was deleted/),
      })
    }
  })
})

describe('rotation', () => {
  function keep(o: ReturnType<typeof setUp>, more: object = {}) {
    const pairs: string[] = []
    let failures = 0
    const done = keepCertificate({
      ...o,
      use: 'client',
      names: () => ({ dnsNames: [], ips: [] }),
      random: () => 0.5,
      onPair: (pair) => pairs.push(pair.certificate),
      onFailure: () => void failures++,
      ...more,
    })
    return { pairs, done, failures: () => failures }
  }
  const advance = async (clock: FakeClock, ms: number): Promise<void> => {
    await clock.advance(ms)
    await settle()
  }
  const day = 86_400_000

  test('a node without a pair asks at once; later at 80 % of its life with a new key', async () => {
    const o = setUp()
    const { pairs } = keep(o)
    await expect.poll(() => requests(o.api).length).toBe(1)
    await sign(o.api)
    await expect.poll(() => pairs.length).toBe(1)
    for (let days = 0; days < 7; days++) await advance(o.clock, day)
    expect(requests(o.api)).toHaveLength(1)
    await advance(o.clock, day + 60_000)
    await expect.poll(() => requests(o.api).length).toBe(2)
    expect(requests(o.api)[0]?.spec?.request).not.toBe(requests(o.api)[1]?.spec?.request)
  })

  test('a first pair from elsewhere is renewed at once, and then by its age', async () => {
    const o = setUp()
    const first = keep(o)
    await expect.poll(() => requests(o.api).length).toBe(1)
    await sign(o.api)
    await expect.poll(() => first.pairs.length).toBe(1)
    o.controller.abort()
    await first.done
    const later = setUp()
    const { pairs } = keep(later, { renewNow: true })
    await expect.poll(() => requests(later.api).length).toBe(1)
    await sign(later.api)
    await expect.poll(() => pairs.length).toBe(2)
    for (let days = 0; days < 7; days++) await advance(later.clock, day)
    expect(requests(later.api)).toHaveLength(1)
  })

  test('an API server that refuses: retried with growing waits, the old pair stays', async () => {
    const o = setUp()
    o.api.fault = ({ verb }) => (verb === 'create' ? FakeKubeApi.refusal(403, 'Forbidden') : undefined)
    const { failures, pairs } = keep(o)
    await expect.poll(failures).toBe(1)
    for (let i = 0; i < 8; i++) await advance(o.clock, 40_000)
    expect(failures()).toBeGreaterThanOrEqual(7)
    expect(pairs).toEqual([])
    o.api.fault = undefined
    await advance(o.clock, 40_000)
    await expect.poll(() => requests(o.api).length).toBe(1)
    await sign(o.api)
    await expect.poll(() => pairs.length).toBe(1)
  })

  test('a certificate that ended while the machine slept: the other way is used', async () => {
    const o = setUp()
    const first = keep(o)
    await expect.poll(() => requests(o.api).length).toBe(1)
    await sign(o.api, 1)
    await expect.poll(() => first.pairs.length).toBe(1)
    o.controller.abort()
    await first.done
    const later = { ...setUp(), clock: new FakeClock(BigInt(Date.now() + 30 * day) * 1_000_000n) }
    let asked = 0
    const second = keep(later, { whenEnded: async () => void asked++ })
    await expect.poll(() => asked).toBeGreaterThan(0)
    expect(requests(later.api)).toEqual([])
    later.controller.abort()
    await second.done
  })

  test('a serving certificate waits for an address, and is asked for again when the addresses change', async () => {
    const o = setUp()
    let ips: string[] | undefined
    const { pairs } = keep(o, {
      use: 'serving',
      names: () => (ips === undefined ? undefined : { dnsNames: ['n1'], ips }),
    })
    await advance(o.clock, 60_000)
    expect(requests(o.api)).toEqual([])
    ips = ['10.0.0.7', 'fd00::7']
    await advance(o.clock, 10_000)
    await expect.poll(() => requests(o.api).length).toBe(1)
    expect(requests(o.api)[0]?.spec?.signerName).toBe('kubernetes.io/kubelet-serving')
    await sign(o.api)
    await expect.poll(() => pairs.length).toBe(1)
    for (let i = 0; i < 5; i++) await advance(o.clock, 10_000)
    expect(requests(o.api)).toHaveLength(1)
    ips = ['10.0.0.8', 'fd00::7']
    await advance(o.clock, 10_000)
    await expect.poll(() => requests(o.api).length).toBe(2)
  })
})

test('what is asked for', () => {
  expect(usagesOf('serving', 'rsa')).toEqual(['digital signature', 'server auth', 'key encipherment'])
  expect(
    servingNames([
      { type: 'InternalIP', address: '10.0.0.7' },
      { type: 'Hostname', address: 'n1' },
      { type: 'InternalDNS', address: 'a.example' },
      { type: 'InternalIP', address: 'fd00::7' },
      { type: 'InternalDNS', address: '' },
    ]),
  ).toEqual({ dnsNames: ['a.example', 'n1'], ips: ['10.0.0.7', 'fd00::7'] })
  expect(servingNames([{ type: 'Hostname', address: 'n1' }])).toBeUndefined()
  expect(
    requestState({ status: { conditions: [{ type: 'Approved', status: 'False' }], certificate: 'QQ==' } })
      .kind,
  ).toBe('waiting')
  expect(
    rotationDueMs({
      pair: undefined,
      subject: nodeSubject('n1'),
      names: { dnsNames: [], ips: [] },
      random: 0,
    }),
  ).toBe(0)
})

test('the time by which a certificate is judged does not go back with the clock, and goes on while a machine sleeps', () => {
  const pair = { facts: { notBeforeMs: 1_000 } } as never
  const taken = { wallMs: 5_000, monotonicMs: 0 }
  expect(timeForPair(pair, taken, { wallMs: 5_100, monotonicMs: 100 }, 0)).toBe(5_100)
  expect(timeForPair(pair, taken, { wallMs: 200, monotonicMs: 100 }, 0)).toBe(5_100)
  expect(timeForPair(pair, taken, { wallMs: 9_000, monotonicMs: 100 }, 0)).toBe(9_000)
  // Taken with a clock that was behind already: it is at least as late as the certificate's beginning.
  expect(timeForPair(pair, { wallMs: 10, monotonicMs: 0 }, { wallMs: 110, monotonicMs: 100 }, 0)).toBe(1_100)
  expect(timeForPair(pair, { wallMs: 10, monotonicMs: 0 }, { wallMs: 110, monotonicMs: 100 }, 4_000)).toBe(
    4_100,
  )
})
