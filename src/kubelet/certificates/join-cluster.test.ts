// The way into the cluster with what `kubeadm init` wrote: a kubeconfig with its certificate inside.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createAuthority, signRequest } from '../../../test/serve/pki.js'
import { createCertificates } from '../../adapters/certificates/certificates.js'
import { createKubeconfigs } from '../../adapters/kubeapi/node-kubeconfig.js'
import type { EffectiveConfig } from '../../config/effective.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeKubeApi } from '../../fakes/kube-api.js'
import { FakeLog } from '../../fakes/log.js'
import { nodeSubject, noNames } from './decide/request.js'
import { joinCluster } from './join-cluster.js'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-join-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const certificates = createCertificates()

async function issue(): Promise<{ readonly certificate: string; readonly key: string }> {
  const key = certificates.newKey()
  const request = await certificates.createRequest(key, nodeSubject('n1'), noNames)
  return { certificate: await signRequest(await createAuthority('cluster'), request, 10), key }
}

async function joinWith(user: object, rotateCertificates = true) {
  const kubeconfig = join(directory, 'kubelet.conf')
  writeFileSync(
    kubeconfig,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: 'https://10.0.0.1:6443', 'insecure-skip-tls-verify': true } },
      ],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
      users: [{ name: 'u', user }],
    }),
  )
  const config = { process: { kubeconfig }, kubelet: { rotateCertificates } } as unknown as EffectiveConfig
  const ports = {
    certificates,
    kubeconfigs: createKubeconfigs(),
    openKubeApi: async () => new FakeKubeApi(),
    clock: new FakeClock(BigInt(Date.now()) * 1_000_000n),
    log: new FakeLog(),
  }
  const link = await joinCluster(config, 'n1', join(directory, 'pki'), ports, new AbortController().signal)
  return { renewNow: link?.renewNow, current: await link?.clientPairs.current() }
}

const embedded = ({ certificate, key }: { readonly certificate: string; readonly key: string }) => ({
  'client-certificate-data': btoa(certificate),
  'client-key-data': btoa(key),
})

test('the certificate inside becomes the first of the file that is renewed, once', async () => {
  const pair = await issue()
  const first = await joinWith(embedded(pair))
  expect(first.renewNow).toBe(true)
  expect(first.current?.certificate.trim()).toBe(pair.certificate.trim())
  const again = await joinWith(embedded(await issue()))
  expect(again.renewNow).toBe(false)
  expect(again.current?.certificate).toBe(first.current?.certificate)
})

test('not without rotation, not of files, and not of a key that is another', async () => {
  const pair = await issue()
  expect(await joinWith(embedded(pair), false)).toEqual({ renewNow: false, current: undefined })
  for (const [name, text] of Object.entries(pair)) writeFileSync(join(directory, name), text)
  const files = { 'client-certificate': join(directory, 'certificate'), 'client-key': join(directory, 'key') }
  expect(await joinWith(files)).toEqual({ renewNow: false, current: undefined })
  const other = embedded({ certificate: pair.certificate, key: certificates.newKey() })
  expect(await joinWith(other)).toEqual({ renewNow: false, current: undefined })
})
