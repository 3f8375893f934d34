// A browser's login: one ticket, one cookie, only from our own page and under our own name, and no longer than the
// credential behind it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, type Told } from './client.js'
import { type Here, startHere } from './here.js'

let here: Here
beforeAll(async () => {
  here = await startHere({ settings: { hostNames: ['node.example'] } })
})
afterAll(() => here.end())

const token = (): string => readFileSync(join(here.directory, 'token'), 'utf8').trim()
const host = (): string => `127.0.0.1:${here.port}`

async function ticketPath(): Promise<string> {
  const told = await ask({ port: here.port, method: 'POST', path: '/login', token: token() })
  expect(told.status).toBe(201)
  return (JSON.parse(told.body) as { path: string }).path
}
const setCookie = (told: Told): string => String(told.headers['set-cookie'] ?? '')
async function login(): Promise<string> {
  const told = await ask({ port: here.port, path: await ticketPath() })
  expect(told.status).toBe(200)
  return setCookie(told).split(';')[0] ?? ''
}
const withCookie = (cookie: string, more: Record<string, string> = {}, path = '/pods', method = 'GET') =>
  ask({ port: here.port, method, path, headers: { cookie, ...more } })

describe('login', () => {
  test('the cookie cannot be read by scripts, sent elsewhere or taken over plain HTTP', async () => {
    const told = await ask({ port: here.port, path: await ticketPath() })
    const attributes = setCookie(told).split('; ')
    expect(attributes[0]).toMatch(new RegExp(`^__Host-keelson-${here.port}=[A-Za-z0-9_-]{43}$`))
    expect(attributes.slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
      'Secure',
    ])
    expect(told.headers['referrer-policy']).toBe('no-referrer')
    expect(told.headers['content-security-policy']).toBe("default-src 'none'")
    expect(told.body).toContain('http-equiv="refresh"')
  })

  test('a ticket works once; made-up ones never', async () => {
    const path = await ticketPath()
    expect((await ask({ port: here.port, path })).status).toBe(200)
    expect((await ask({ port: here.port, path })).status).toBe(401)
    for (const bad of ['', '?ticket=', '?ticket=abc', `?ticket=${'A'.repeat(43)}`])
      expect((await ask({ port: here.port, path: `/login${bad}` })).status).toBe(401)
  })

  test('a link that a program looks at with HEAD still logs a person in', async () => {
    const path = await ticketPath()
    const head = () => ask({ port: here.port, method: 'HEAD', path })
    expect(await head()).toMatchObject({ status: 200, body: '' })
    expect(setCookie(await head())).toBe('')
    expect((await ask({ port: here.port, path })).status).toBe(200)
    expect((await head()).status).toBe(401)
  })

  test('only a token or certificate gets a ticket', async () => {
    expect((await ask({ port: here.port, method: 'POST', path: '/login' })).status).toBe(401)
    const cookie = await login()
    const told = await withCookie(cookie, { origin: `https://${host()}` }, '/login', 'POST')
    expect(told.status).toBe(400)
  })
})

describe('a session', () => {
  test('opens what its credential opens', async () => {
    const cookie = await login()
    expect(await withCookie(cookie)).toMatchObject({ status: 200, body: 'pods for keelson:local' })
    const ran = await withCookie(cookie, { origin: `https://${host()}` }, '/run/a/b/c', 'POST')
    expect(ran.status).toBe(200)
  })

  test.each([
    ['another origin', { origin: 'https://evil.example' }, 'POST'],
    ['another port of this host', { origin: 'https://127.0.0.1:1' }, 'POST'],
    ['plain HTTP', { origin: 'http://127.0.0.1' }, 'POST'],
    ['an opaque origin', { origin: 'null' }, 'POST'],
    ['no origin at all', {}, 'POST'],
    ['a page elsewhere, as the browser says', { 'sec-fetch-site': 'cross-site' }, 'GET'],
    ['a sister site', { 'sec-fetch-site': 'same-site' }, 'GET'],
  ] as const)('a request from %s is refused', async (_, headers, method) => {
    const cookie = await login()
    const path = method === 'POST' ? '/run/a/b/c' : '/pods'
    expect((await withCookie(cookie, { ...headers }, path, method)).status).toBe(403)
  })

  test('a WebSocket from elsewhere is refused', async () => {
    const cookie = await login()
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', origin: 'https://evil.example' }
    expect((await withCookie(cookie, upgrade)).status).toBe(403)
  })

  test('the Host header must be ours', async () => {
    const cookie = await login()
    const status = async (name: string) => (await withCookie(cookie, { host: name })).status
    for (const ours of [host(), 'localhost', 'NODE-1', 'node.example:10250', '[::1]:10250', '10.0.0.1'])
      expect(await status(ours), ours).toBe(200)
    for (const other of [
      'evil.example',
      'localhost.evil.example',
      'node-1.evil',
      '127.0.0.1.evil.example',
      'a b',
    ])
      expect(await status(other), other).toBeGreaterThanOrEqual(400)
    const path = await ticketPath()
    expect((await ask({ port: here.port, path, headers: { host: 'evil.example' } })).status).toBe(403)
  })

  test('made-up, doubled and foreign cookies are bad credentials', async () => {
    const cookie = await login()
    const name = `__Host-keelson-${here.port}`
    for (const bad of [`${name}=${'A'.repeat(43)}`, `${name}=`, `${cookie}; ${cookie}`, `${name}=%00`])
      expect((await withCookie(bad)).status, bad).toBe(401)
    expect((await withCookie(`${cookie}; theme=dark`)).status).toBe(200)
    expect((await withCookie('theme=dark')).status).toBe(401)
  })

  test('ends by DELETE', async () => {
    const cookie = await login()
    const told = await withCookie(cookie, { origin: `https://${host()}` }, '/login', 'DELETE')
    expect(told.status).toBe(204)
    expect(setCookie(told)).toContain('Max-Age=0')
    expect((await withCookie(cookie)).status).toBe(401)
  })

  test('ends with the token behind it', async () => {
    const cookie = await login()
    writeFileSync(join(here.directory, 'token'), `${'z'.repeat(43)}\n`, { mode: 0o600 })
    expect((await withCookie(cookie)).status).toBe(401)
    expect((await withCookie(await login())).status).toBe(200)
  })
})
