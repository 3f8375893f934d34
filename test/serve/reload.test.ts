// Certificate, key, client CA and local token replaced while requests run: no valid request fails, and what was valid
// before is refused afterwards, also on connections that were open all the time.

import { X509Certificate } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ask, openTls } from './client.js'
import { type Authority, createAuthority, createLeaf, type Pair } from './pki.js'
import { type Served, settingsIn, startStandIn, temporaryDirectory } from './start.js'

const directory = temporaryDirectory()
const file = (name: string): string => join(directory.path, name)
const put = (name: string, text: string): void => {
  writeFileSync(file(`${name}.new`), text, { mode: 0o600 })
  renameSync(file(`${name}.new`), file(name))
}
const agents: Agent[] = []
const loads: Load[] = []
let served: Served
let first: Authority
let second: Authority
let firstClient: Pair
let secondClient: Pair

const groups = ['system:masters']
const servingPair = (): Promise<Pair> =>
  createLeaf(first, { user: 'node-1', usage: 'server', hosts: ['127.0.0.1'] })

beforeAll(async () => {
  first = await createAuthority('first-ca')
  second = await createAuthority('second-ca')
  firstClient = await createLeaf(first, { user: 'one', groups })
  secondClient = await createLeaf(second, { user: 'two', groups })
  const serving = await servingPair()
  put('tls.crt', serving.certificate)
  put('tls.key', serving.key)
  put('ca.crt', first.certificate)
  served = await startStandIn({
    settings: settingsIn(directory.path, 'kubelet', {
      tlsCertFile: file('tls.crt'),
      tlsPrivateKeyFile: file('tls.key'),
      clientCAFile: file('ca.crt'),
    }),
  })
})

/** Also where a test failed before it stopped its own. */
afterEach(() => Promise.all(loads.splice(0).map((load) => load.stop())))
afterAll(async () => {
  for (const agent of agents) agent.destroy()
  await served.stop()
  directory.remove()
})

interface Load {
  readonly failures: string[]
  readonly count: number
  stop(): Promise<void>
}

/** Four callers, two on kept connections and two on new ones each time. */
function startLoad(credential: () => { token: string } | { certificate: Pair }): Load {
  const state = { running: true, count: 0 }
  const failures: string[] = []
  const caller = async (agent: Agent | undefined): Promise<void> => {
    while (state.running) {
      const shown = credential()
      const told = await ask({
        port: served.port,
        path: '/healthz',
        ...shown,
        ...(agent === undefined ? {} : { agent }),
      }).catch((e: unknown) => ({ status: 0, body: String(e) }))
      state.count++
      const stillValid = JSON.stringify(shown) === JSON.stringify(credential())
      if (told.status !== 200 && stillValid) failures.push(`${told.status} ${told.body}`)
    }
  }
  const kept = new Agent({ keepAlive: true })
  agents.push(kept)
  const all = Promise.all([caller(kept), caller(kept), caller(undefined), caller(undefined)])
  const load: Load = {
    failures,
    get count() {
      return state.count
    },
    async stop() {
      state.running = false
      await all
    },
  }
  loads.push(load)
  return load
}

async function servedSerial(): Promise<string> {
  const socket = await openTls(served.port)
  const serial = socket.getPeerX509Certificate()?.serialNumber ?? ''
  socket.destroy()
  return serial
}

const status = async (certificate: Pair, agent?: Agent): Promise<number> =>
  (await ask({ port: served.port, path: '/healthz', certificate, ...(agent === undefined ? {} : { agent }) }))
    .status

test('a new serving certificate, key after certificate, under load', async () => {
  const load = startLoad(() => ({ certificate: firstClient }))
  const next = await servingPair()
  const before = await servedSerial()
  put('tls.crt', next.certificate)
  // For a while the two files do not belong together.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(await servedSerial()).toBe(before)
  put('tls.key', next.key)
  await expect
    .poll(servedSerial, { timeout: 15_000 })
    .toBe(new X509Certificate(next.certificate).serialNumber)
  await load.stop()
  expect(load.failures).toEqual([])
  expect(load.count).toBeGreaterThan(20)
})

test('a CA bundle that cannot be read leaves the old one in place', async () => {
  const load = startLoad(() => ({ certificate: firstClient }))
  for (const text of ['', 'no certificate at all', first.certificate.slice(0, 200)]) {
    put('ca.crt', text)
    await new Promise((resolve) => setTimeout(resolve, 1200))
  }
  await load.stop()
  expect(load.failures).toEqual([])
  expect(served.log()).toContain('the old ones stay')
})

test('a new CA beside the old one, then alone, under load', async () => {
  const old = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(old)
  expect(await status(firstClient, old)).toBe(200)
  expect(await status(secondClient)).toBe(401)

  const firstLoad = startLoad(() => ({ certificate: firstClient }))
  put('ca.crt', first.certificate + second.certificate)
  await expect.poll(() => status(secondClient), { timeout: 15_000 }).toBe(200)
  const secondLoad = startLoad(() => ({ certificate: secondClient }))
  expect(await status(firstClient, old)).toBe(200)
  await firstLoad.stop()
  expect(firstLoad.failures).toEqual([])

  put('ca.crt', second.certificate)
  await expect.poll(() => status(firstClient), { timeout: 15_000 }).toBe(401)
  expect(await status(firstClient, old)).toBe(401)
  await secondLoad.stop()
  expect(secondLoad.failures).toEqual([])
  expect(secondLoad.count).toBeGreaterThan(20)
})

test('a new local token, under load', async () => {
  const token = (): string => readFileSync(file('token'), 'utf8').trim()
  const old = token()
  expect(statSync(file('token')).mode & 0o777).toBe(0o600)
  const load = startLoad(() => ({ token: token() }))
  const withToken = async (t: string): Promise<number> =>
    (await ask({ port: served.port, path: '/configz', token: t })).status
  // Tokens are random: the first letter of the old one may be any of these.
  const letters = [...'abcdef'].filter((letter) => letter !== old[0]).slice(0, 5)
  for (const letter of letters) {
    put('token', `${letter}${old.slice(1)}\n`)
    expect(await withToken(token())).toBe(200)
    expect(await withToken(old)).toBe(401)
  }
  await load.stop()
  expect(load.failures).toEqual([])
})

test('a token file that others can read is not believed', async () => {
  const token = readFileSync(file('token'), 'utf8').trim()
  const answer = async (): Promise<number> =>
    (await ask({ port: served.port, path: '/configz', token })).status
  expect(await answer()).toBe(200)
  chmodSync(file('token'), 0o644)
  expect(await answer()).toBe(401)
  expect(served.log()).toContain('token.insecure')
  chmodSync(file('token'), 0o600)
  expect(await answer()).toBe(200)
})

test('a certificate that expires while its connection is open', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  const certificate = await createLeaf(second, { user: 'two', groups, untilMs: Date.now() + 6000 })
  expect(await status(certificate, agent)).toBe(200)
  await expect.poll(() => status(certificate, agent), { timeout: 20_000, interval: 300 }).toBe(401)
})
