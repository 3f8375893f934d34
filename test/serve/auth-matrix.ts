// Who may ask what, on running processes: every kind of caller, every path, every method, and an API server in every mood.
// How each of the three processes is started is the caller's business.

import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiStub, startApiStub } from './api-stub.js'
import { ask, forEachLimited, type Told } from './client.js'
import { type Authority, createAuthority, createLeaf, type Pair } from './pki.js'
import { expectedStatus, methods, otherPaths, type PathRow, rights, sharedPaths } from './rights.js'
import { type ProcessName, type Served, type Start, settingsIn, temporaryDirectory } from './start.js'

interface Caller {
  readonly name: string
  readonly token?: string
  readonly certificate?: Pair
}

export interface Starter {
  readonly start: Start
  /** Paths of `otherPaths` that the process answers with 200 to somebody who may ask. */
  readonly serves?: readonly string[]
  /** Paths that it does not have, for nobody. */
  readonly lacks?: RegExp
}

/** How long each process waits for the API server. */
const reviewTimeoutMs = 10_000
const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 500

export function describeAuthMatrix(starters: Readonly<Record<ProcessName, Starter>>): void {
  const processes = Object.keys(starters) as ProcessName[]
  const directory = temporaryDirectory()
  const served = new Map<ProcessName, Served>()
  const agents: Agent[] = []
  let asked = 0
  let api: ApiStub
  let ca: Authority
  const good = new Map<string, Pair>()
  const bad = new Map<string, Pair>()
  const certificateOf = (key: string): Pair => {
    const pair = good.get(key) ?? bad.get(key)
    if (pair === undefined) throw new Error(`no certificate ${key}`)
    return pair
  }
  const portOf = (name: ProcessName): number => served.get(name)?.port ?? 0

  beforeAll(async () => {
    const day = 86_400_000
    ca = await createAuthority('cluster-ca')
    const other = await createAuthority('other-ca')
    const middle = await createAuthority('middle-ca', ca)
    api = await startApiStub(directory.path, ca)
    for (const [user, list] of Object.entries(rights)) {
      api.rights.set(user, new Set(list))
      api.tokens.set(`token-of-${user}`, { username: user, groups: ['people'] })
      good.set(user, await createLeaf(ca, { user, groups: ['people'] }))
    }
    const viaMiddle = await createLeaf(middle, { user: 'admin' })
    good.set('through an intermediate CA', {
      ...viaMiddle,
      certificate: viaMiddle.certificate + middle.certificate,
    })
    bad.set('of another CA', await createLeaf(other, { user: 'admin' }))
    bad.set(
      'expired',
      await createLeaf(ca, { user: 'admin', fromMs: Date.now() - 2 * day, untilMs: Date.now() - day }),
    )
    bad.set(
      'not yet valid',
      await createLeaf(ca, { user: 'admin', fromMs: Date.now() + day, untilMs: Date.now() + 2 * day }),
    )
    bad.set('for servers only', await createLeaf(ca, { user: 'admin', usage: 'server' }))
    bad.set('without its intermediate CA', viaMiddle)
    const leaf = await createLeaf(ca, { user: 'admin' })
    const child = await createLeaf(leaf, { user: 'admin' })
    bad.set('signed by a leaf', { ...child, certificate: child.certificate + leaf.certificate })
    bad.set('without a name', await createLeaf(ca, { user: '' }))
    const caFile = join(directory.path, 'ca.crt')
    writeFileSync(caFile, ca.certificate)
    await Promise.all(
      processes.map(async (name) => {
        const settings = settingsIn(directory.path, name, {
          clientCAFile: caFile,
          tokenReview: { enabled: true, cacheTtlMs: 400 },
          authorization: { mode: 'Webhook', allowTtlMs: 400, denyTtlMs: 400 },
        })
        served.set(name, await starters[name].start({ settings, kubeconfig: api.kubeconfig }))
      }),
    )
  })

  afterAll(async () => {
    console.log(`each path and method: ${asked} requests to ${processes.length} processes`)
    for (const agent of agents) agent.destroy()
    await Promise.all([...served.values()].map((s) => s.stop()))
    await api.close()
    directory.remove()
  })

  const refusedAlways = (): number => 401

  /** What somebody who may ask is told; undefined: not a refusal, the rest is the endpoint's business. */
  function certainAnswer(name: ProcessName, row: PathRow, wanted: number): number | undefined {
    const { serves = [], lacks } = starters[name]
    if (isRefusal(wanted) || sharedPaths.includes(row) || serves.includes(row[0])) return wanted
    return lacks?.test(row[0]) === true ? 404 : undefined
  }

  async function wholeTable(
    name: ProcessName,
    caller: Caller,
    expected: (row: PathRow, method: string) => number,
  ) {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    agents.push(agent)
    const rows = [...sharedPaths, ...otherPaths]
    const cases = rows.flatMap((row) => methods.map((method) => ({ row, method })))
    const wrong: string[] = []
    await forEachLimited(cases, 4, async ({ row, method }) => {
      const told = await ask({ port: portOf(name), method, path: row[0], agent, ...caller })
      const wanted = certainAnswer(name, row, expected(row, method))
      const isRight = wanted === undefined ? !isRefusal(told.status) : told.status === wanted
      if (!isRight) wrong.push(`${method} ${row[0]}: ${told.status}, wanted ${wanted ?? 'no refusal'}`)
      if (told.status === 401 && method !== 'HEAD') expect(told.body).toBe('Unauthorized\n')
    })
    asked += cases.length
    expect(wrong).toEqual([])
  }

  for (const name of processes) {
    describe(`${name}: each path and method`, () => {
      test('nobody without a credential', () => wholeTable(name, { name: 'anonymous' }, refusedAlways))
      test('nobody with a made-up token', () =>
        wholeTable(name, { name: 'made up', token: 'made-up-token' }, refusedAlways))
      for (const flaw of [
        'of another CA',
        'expired',
        'not yet valid',
        'for servers only',
        'without its intermediate CA',
        'signed by a leaf',
        'without a name',
      ])
        test(`nobody with a certificate ${flaw}`, () =>
          wholeTable(name, { name: flaw, certificate: certificateOf(flaw) }, refusedAlways))
      for (const user of Object.keys(rights)) {
        test(`certificate of ${user}: exactly their rights`, async () => {
          const certificate = good.get(user)
          if (certificate === undefined) throw new Error('no such certificate')
          await wholeTable(name, { name: user, certificate }, (row, method) =>
            expectedStatus(user, method, row),
          )
        })
        test(`token of ${user}: exactly their rights`, () =>
          wholeTable(name, { name: user, token: `token-of-${user}` }, (row, method) =>
            expectedStatus(user, method, row),
          ))
      }
    })
  }

  describe.each(processes)('%s: credentials', (name) => {
    const healthz = (caller: Omit<Caller, 'name'>, headers: Record<string, string> = {}): Promise<Told> =>
      ask({ port: portOf(name), path: '/healthz', headers, ...caller })

    test('a chain through an intermediate CA is followed', async () => {
      expect((await healthz({ certificate: certificateOf('through an intermediate CA') })).status).toBe(200)
    })

    test('a bad certificate does not spoil a good token, and never turns into nobody', async () => {
      const certificate = certificateOf('expired')
      expect((await healthz({ certificate, token: 'token-of-admin' })).status).toBe(200)
      expect((await healthz({ certificate, token: 'wrong' })).status).toBe(401)
    })

    test('a refusal names user, verb, resource and subresources', async () => {
      const told = await healthz({ token: 'token-of-nobody' })
      expect(told).toMatchObject({
        status: 403,
        body: 'Forbidden (user=nobody, verb=get, resource=nodes, subresource(s)=[healthz proxy])\n',
      })
    })

    test('other schemes and malformed headers are bad credentials', async () => {
      for (const authorization of ['Basic YWRtaW46YWRtaW4=', 'Bearer', 'Bearer a b', 'token-of-admin', ''])
        expect((await healthz({}, { authorization })).status, authorization).toBe(401)
    })

    test('reading rights do not open exec, attach or port-forward over a WebSocket', async () => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      }
      for (const path of ['/exec/ns/p/c', '/attach/ns/p/c', '/portForward/ns/p']) {
        const upgrade = (token?: string): Promise<Told> =>
          ask({ port: portOf(name), path, headers, ...(token === undefined ? {} : { token }) })
        expect((await upgrade('token-of-proxy-reader')).status).toBe(403)
        expect((await upgrade()).status).toBe(401)
        expect(isRefusal((await upgrade('token-of-proxy-writer')).status)).toBe(false)
      }
    })

    test('a revoked token is refused once the kept answer ends', async () => {
      api.tokens.set('short-lived', { username: 'admin', groups: [] })
      expect((await healthz({ token: 'short-lived' })).status).toBe(200)
      api.tokens.delete('short-lived')
      await expect
        .poll(async () => (await healthz({ token: 'short-lived' })).status, { timeout: 10_000 })
        .toBe(401)
    })

    test('a right that is taken away ends, one that is given begins', async () => {
      api.tokens.set('changing', { username: 'changing', groups: [] })
      expect((await healthz({ token: 'changing' })).status).toBe(403)
      api.rights.set('changing', new Set(['get healthz']))
      await expect
        .poll(async () => (await healthz({ token: 'changing' })).status, { timeout: 10_000 })
        .toBe(200)
      api.rights.delete('changing')
      await expect
        .poll(async () => (await healthz({ token: 'changing' })).status, { timeout: 10_000 })
        .toBe(403)
    })
  })

  describe('an API server that is not well, seen by all three processes', () => {
    const expire = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 450))
    const statuses = (): Promise<(readonly [number, number])[]> =>
      Promise.all(
        processes.map(async (name) => {
          const healthz = { port: portOf(name), path: '/healthz' }
          const [token, certificate] = await Promise.all([
            ask({ ...healthz, token: 'token-of-admin' }),
            ask({ ...healthz, certificate: certificateOf('admin') }),
          ])
          expect(certificate.body).not.toContain('127.0.0.1')
          return [token.status, certificate.status] as const
        }),
      )
    const everywhere = (token: number, certificate: number) => processes.map(() => [token, certificate])
    afterAll(() => {
      api.setMood('well')
    })

    for (const { name, mood, slowMs = 0, token, certificate } of [
      {
        name: 'slow, but in time: the answer waits',
        mood: 'slow',
        slowMs: 300,
        token: 200,
        certificate: 200,
      },
      { name: 'too slow: refused', mood: 'slow', slowMs: 60_000, token: 401, certificate: 500 },
      { name: 'failing now and then: asked again', mood: 'flaky', token: 200, certificate: 200 },
      { name: 'failing for good: refused', mood: 'failing', token: 401, certificate: 500 },
      { name: 'answering garbage: refused', mood: 'garbage', token: 401, certificate: 500 },
    ] as const)
      test(name, async () => {
        await expire()
        api.setMood(mood, slowMs)
        const started = Date.now()
        expect(await statuses()).toEqual(everywhere(token, certificate))
        expect(Date.now() - started).toBeLessThan(reviewTimeoutMs + 5000)
      })

    test('away: refused at once', async () => {
      api.setMood('well')
      await expire()
      await api.close()
      const started = Date.now()
      expect(await statuses()).toEqual(everywhere(401, 500))
      expect(Date.now() - started).toBeLessThan(reviewTimeoutMs / 2)
    })
  })

  test('nothing secret is in the logs', () => {
    for (const s of served.values()) {
      expect(s.log()).toContain('"path":"/healthz"')
      expect(s.log()).not.toMatch(/token-of-|made-up-token|short-lived/)
    }
  })
}
