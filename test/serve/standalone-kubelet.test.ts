// The real `keelson kubelet`, bundled as it is shipped, without an API server: what opens it, and what a browser, a prober and a
// caller with an unknown token are told.
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from './client.js'
import { createAuthority, createLeaf, type Pair } from './pki.js'
import { type Served, settingsIn, temporaryDirectory } from './start.js'
import { startRealKubelet } from './start-kubelet.js'

const directory = temporaryDirectory()
const run = '/run/default/web/app?cmd=id'
let closed: Served
let open: Served
let admin: Pair
let other: Pair

beforeAll(async () => {
  const ca = await createAuthority('ca')
  admin = await createLeaf(ca, { user: 'ops', groups: ['system:masters'] })
  other = await createLeaf(ca, { user: 'some-app', groups: ['lowpriv'] })
  const clientCAFile = join(directory.path, 'ca.crt')
  writeFileSync(clientCAFile, ca.certificate)
  const { authorization, tokenReview, ...settings } = settingsIn(directory.path, 'kubelet')
  const start = startRealKubelet
  ;[closed, open] = await Promise.all([
    start({ settings: { ...settings, authorization, tokenReview, clientCAFile } }),
    start({
      settings: {
        ...settings,
        clientCAFile,
        anonymous: true,
        tokenReview: { ...tokenReview, enabled: false },
        authorization: { ...authorization, mode: 'AlwaysAllow' },
      },
    }),
  ])
})
afterAll(async () => {
  await Promise.all([closed.stop(), open.stop()])
  directory.remove()
})

/** Plain HTTP, headers without what differs from one answer to the next. */
const plain = (port: number | undefined, method: string, path: string) =>
  new Promise<{ status: number | undefined; headers: object; body: string }>((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, method, agent: false }, (res) => {
      let body = ''
      res.setEncoding('utf8')
      res.on('data', (text: string) => {
        body += text
      })
      const { date: _, ...headers } = res.headers
      res.on('end', () => resolve({ status: res.statusCode, headers, body }))
    })
    req.on('error', reject)
    req.end()
  })

describe('Webhook without an API server', () => {
  test('is told at the start, by name and with the remedy', () => {
    const warning = /"level":"warn"[^\n]*authorization\.mode[^\n]*Webhook[^\n]*/i.exec(closed.log())?.[0]
    expect(warning).toContain('--kubeconfig')
    expect(warning).toContain('system:masters')
    expect(open.log()).not.toMatch(/Webhook/)
  })

  test('a client certificate without the group system:masters runs nothing in a container', async () => {
    const post = { port: closed.port, method: 'POST', path: run }
    expect(await ask({ ...post, certificate: other })).toMatchObject({
      status: 403,
      body: 'Forbidden (user=some-app, verb=create, resource=nodes, subresource(s)=[proxy])\n',
    })
    expect((await ask({ ...post, certificate: admin })).status).toBe(404)
  })
})

describe('a browser that holds a client certificate', () => {
  const post = (headers: Record<string, string>) =>
    ask({ port: closed.port, method: 'POST', path: run, certificate: admin, headers })

  test.each([
    ['a page elsewhere', { origin: 'https://evil.example' }],
    ['a page elsewhere, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { origin: 'https://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    [
      'a page whose name was pointed at this node',
      { host: 'evil.example', origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ],
  ])('is refused when the request comes from %s', async (_, headers) => {
    expect(await post(headers)).toMatchObject({
      status: 403,
      body: expect.stringMatching(/^Forbidden: the /),
    })
  })

  test('is let in from our own page, and so is a client that is no browser', async () => {
    const origin = `https://127.0.0.1:${closed.port}`
    expect((await post({ origin, 'sec-fetch-site': 'same-origin' })).status).toBe(404)
    expect((await post({})).status).toBe(404)
    expect((await post({ host: 'any.name' })).status).toBe(404)
  })
})

test("a stream that the API server opens for a client keeps that client's Origin; a page cannot look like one", async () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', origin: 'http://localhost' }
  const open = (headers: Record<string, string>) =>
    ask({ port: closed.port, path: '/exec/a/b/c?output=1', certificate: admin, headers })
  expect((await open({ ...upgrade, 'x-forwarded-for': '192.0.2.7' })).status).toBe(404)
  expect((await open(upgrade)).status).toBe(403)
  const post = { port: closed.port, method: 'POST', path: run, certificate: admin }
  const headers = { origin: 'https://evil.example', 'x-forwarded-for': '192.0.2.7' }
  expect((await ask({ ...post, headers })).status).toBe(403)
})

describe('HEAD', () => {
  test('/healthz on the health port: a prober that asks with HEAD is answered as with GET', async () => {
    const { body, ...told } = await plain(closed.healthPort, 'GET', '/healthz')
    expect(body).toBe('ok')
    expect(await plain(closed.healthPort, 'HEAD', '/healthz')).toEqual({ ...told, status: 200, body: '' })
  })

  test('wants the right to GET', async () => {
    const head = { port: closed.port, method: 'HEAD', path: '/healthz' }
    expect((await ask(head)).status).toBe(401)
    expect((await ask({ ...head, certificate: other })).status).toBe(403)
    expect((await ask({ ...head, certificate: admin })).status).toBe(200)
  })
})

describe('anonymous callers on, token webhook off', () => {
  test('a caller with an unknown bearer token is an anonymous caller', async () => {
    expect((await ask({ port: open.port, path: '/healthz', token: 'unknown' })).status).toBe(200)
    expect((await ask({ port: open.port, path: '/healthz' })).status).toBe(200)
    expect(open.log()).toContain('"user":"system:anonymous"')
  })

  test('where the webhook is on, an unknown bearer token is refused', async () => {
    expect((await ask({ port: closed.port, path: '/healthz', token: 'unknown' })).status).toBe(401)
  })
})
