// The kubelet items of the CIS Kubernetes benchmark that concern the server, on a server with default settings.

import { X509Certificate } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'
import { loadConfig } from '../../src/config/load.js'
import { kubeletServeSettings } from '../../src/kubelet/serve-settings.js'
import { defaultSettings } from '../../src/serve/settings.js'
import { callsOf } from '../support/kube-client.js'
import { formatKubeconfig, startApiStub } from './api-stub.js'
import { ask, openTls } from './client.js'
import { type Here, startHere } from './here.js'
import { createAuthority, createLeaf } from './pki.js'
import { temporaryDirectory } from './start.js'

/** As a kubelet without any configuration file or flag would have them. */
const { config } = loadConfig({})
const settings = kubeletServeSettings(config, 'node-1', '/var/lib/kubelet')
let here: Here

beforeAll(async () => {
  const { anonymous, authorization, tokenReview, tlsMinVersion, tlsCipherSuites, readOnlyPort } = settings
  here = await startHere({
    settings: { anonymous, authorization, tokenReview, tlsMinVersion, tlsCipherSuites, readOnlyPort },
  })
})
afterAll(() => here.end())

const handshake = (options: ConnectionOptions, port = here.port): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    socket.once('secureConnect', () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`)
      socket.destroy()
    })
    socket.once('error', (e: NodeJS.ErrnoException) => resolve(`refused ${e.code ?? ''}`))
  })

test('4.2.1 anonymous authentication is off', async () => {
  expect(settings.anonymous).toBe(false)
  expect(defaultSettings('companion', 'n').anonymous).toBe(false)
  for (const path of ['/', '/healthz', '/metrics', '/pods', '/run/a/b/c'])
    expect((await ask({ port: here.port, path })).status).toBe(401)
})

test('4.2.2 the authorization mode is not AlwaysAllow', () => {
  expect(settings.authorization.mode).toBe('Webhook')
  expect(here.auth.authorizer).toBe('local')
})

test('4.2.3 client certificates count only with a client CA file', async () => {
  expect(settings.clientCAFile).toBeUndefined()
  const ca = await createAuthority('ca')
  const certificate = await createLeaf(ca, { user: 'admin', groups: ['system:masters'] })
  expect((await ask({ port: here.port, path: '/pods', certificate })).status).toBe(401)
  const withCa = await startHere({
    prepare: (directory) => {
      writeFileSync(join(directory, 'ca.crt'), ca.certificate)
      return { clientCAFile: join(directory, 'ca.crt') }
    },
  })
  expect((await ask({ port: withCa.port, path: '/pods', certificate })).status).toBe(200)
  await withCa.end()
})

test('4.2.4 the read-only port is 0', () => {
  expect(settings.readOnlyPort).toBe(0)
  expect(here.readOnlyPort).toBeUndefined()
})

test('4.2.5 streams do not last for ever', () => {
  expect(settings.requests.longRunningTimeoutMs).toBe(4 * 3_600_000)
})

test('4.2.6 makeIPTablesUtilChains is not turned off', () => {
  expect(config.document).not.toHaveProperty('makeIPTablesUtilChains', false)
})

test('4.2.9 the server speaks TLS, with a certificate and a key that only root can read', async () => {
  const socket = await openTls(here.port)
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  expect(certificate?.checkHost('node-1')).toBe('node-1')
  expect(certificate?.checkIP('127.0.0.1')).toBe('127.0.0.1')
  for (const name of ['kubelet.crt', 'kubelet.key'])
    expect(statSync(join(here.directory, 'pki', name)).mode & 0o777).toBe(0o600)
  await expect(fetch(`http://127.0.0.1:${here.port}/healthz`)).rejects.toThrow()
})

test('4.2.10 a renewed client certificate is shown to the API server without a restart', async () => {
  expect(config.document).not.toHaveProperty('rotateCertificates', false)
  const directory = temporaryDirectory()
  const ca = await createAuthority('cluster-ca')
  const stub = await startApiStub(directory.path, ca)
  const files = {
    'client-certificate': join(directory.path, 'c.crt'),
    'client-key': join(directory.path, 'c.key'),
  }
  const kubeconfig = join(directory.path, 'kubelet.conf')
  writeFileSync(kubeconfig, formatKubeconfig(stub.port, ca, files))
  const renew = async (): Promise<string> => {
    const { certificate, key } = await createLeaf(ca, {
      user: 'system:node:node-1',
      groups: ['system:nodes'],
    })
    writeFileSync(files['client-key'], key)
    writeFileSync(files['client-certificate'], certificate)
    return new X509Certificate(certificate).serialNumber
  }
  const first = await renew()
  const api = await callsOf(kubeconfig)
  await api.reviewToken('any', AbortSignal.timeout(5000))
  expect(stub.shown.at(-1)).toBe(first)
  const second = await renew()
  await api.reviewToken('any', AbortSignal.timeout(5000))
  expect(stub.shown.at(-1)).toBe(second)
  await stub.close()
  directory.remove()
})

test('4.2.11 a renewed serving certificate is taken without a restart', async () => {
  const next = await createSelfSigned('node-1', ['node-1', '127.0.0.1'])
  writeFileSync(join(here.directory, 'pki', 'kubelet.key'), next.key)
  writeFileSync(join(here.directory, 'pki', 'kubelet.crt'), next.certificate)
  const served = async (): Promise<string> => {
    const socket = await openTls(here.port)
    const serial = socket.getPeerX509Certificate()?.serialNumber ?? ''
    socket.destroy()
    return serial
  }
  await expect.poll(served, { timeout: 15_000 }).toBe(new X509Certificate(next.certificate).serialNumber)
})

test('4.2.12 only strong ciphers', async () => {
  expect(await handshake({ minVersion: 'TLSv1.3' })).toMatch(/^TLSv1\.3 TLS_/)
  expect(await handshake({ maxVersion: 'TLSv1.2' })).toMatch(
    /^TLSv1\.2 ECDHE-ECDSA-(AES(128|256)-GCM|CHACHA20)/,
  )
  for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const)
    expect(await handshake({ minVersion: 'TLSv1', maxVersion, ciphers: 'ALL:@SECLEVEL=0' })).toMatch(
      /^refused/,
    )
  for (const ciphers of ['AES128-SHA', 'AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-SHA', 'aNULL', 'eNULL'])
    expect(await handshake({ maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` }), ciphers).toMatch(
      /^refused/,
    )
})

test('tlsCurvePreferences: a client without one of these key exchanges is refused', async () => {
  const served = await startHere({ settings: { tlsCurvePreferences: [24, 25] } })
  const offering = (version: 'TLSv1.2' | 'TLSv1.3', ecdhCurve: string): Promise<string> =>
    handshake({ minVersion: version, maxVersion: version, ecdhCurve }, served.port)
  expect(await offering('TLSv1.3', 'P-521')).toMatch(/^TLSv1\.3/)
  expect(await offering('TLSv1.3', 'P-384')).toMatch(/^TLSv1\.3/)
  // Before 1.3 the list of the client is also about certificates, and ours is of P-256.
  expect(await offering('TLSv1.2', 'P-384:P-256')).toMatch(/^TLSv1\.2/)
  for (const other of ['X25519', 'P-256']) {
    expect(await offering('TLSv1.3', other)).toMatch(/^refused/)
    expect(await offering('TLSv1.2', other)).toMatch(/^refused/)
  }
  await served.end()
})
