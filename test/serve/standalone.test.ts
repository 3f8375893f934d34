// A node without an API server: the local token and the configured CA open the server, nothing else does, also not
// from loopback. Health and read-only port show what they may and no more.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/program.js'
import { ask } from './client.js'
import { type Here, type HereOptions, startHere } from './here.js'
import { createAuthority, createLeaf } from './pki.js'

const open: Here[] = []
const start = async (o?: HereOptions): Promise<Here> => {
  const here = await startHere(o)
  open.push(here)
  return here
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((h) => h.end()))
})
const tokenOf = (here: Here): string => readFileSync(join(here.directory, 'token'), 'utf8').trim()

const plain = (
  port: number | undefined,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (res) => {
      let body = ''
      res.on('data', (d: Buffer) => {
        body += d.toString()
      })
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body }))
    })
    req.on('error', reject)
    req.end()
  })

describe('the local token', () => {
  test('is made with mode 0600, opens everything, and nothing works without it', async () => {
    const here = await start()
    expect(statSync(join(here.directory, 'token')).mode & 0o777).toBe(0o600)
    expect(tokenOf(here).length).toBeGreaterThanOrEqual(43)
    for (const path of ['/healthz', '/metrics', '/pods', '/configz', '/metrics/slis', '/nothing']) {
      expect((await ask({ port: here.port, path })).status, path).toBe(401)
      expect((await ask({ port: here.port, path, token: `${tokenOf(here)}x` })).status, path).toBe(401)
      const found = path === '/nothing' ? 404 : 200
      expect((await ask({ port: here.port, path, token: tokenOf(here) })).status, path).toBe(found)
    }
    const ran = await ask({
      port: here.port,
      method: 'POST',
      path: '/run/a/b/c',
      token: tokenOf(here),
      body: 'id',
    })
    expect(ran).toMatchObject({ status: 200, body: 'ran 2' })
  })

  test('keelson token prints it, and a link that logs in once', async () => {
    const here = await start()
    const file = join(here.directory, 'token')
    const keelson = async (...argv: string[]) => {
      const io = { out: '', err: '' }
      const status = await run(['token', '--token-file', file, ...argv], {
        stdout: { write: (t) => (io.out += t) },
        stderr: { write: (t) => (io.err += t) },
        stdin: process.stdin,
        env: {},
        exitCode: 0,
      })
      return { status, ...io }
    }
    expect(await keelson()).toEqual({ status: 0, out: `${tokenOf(here)}\n`, err: '' })
    const certificate = join(here.directory, 'pki', 'kubelet.crt')
    const link = await keelson('--login', here.url, '--certificate', certificate)
    expect(link).toMatchObject({ status: 0, err: '' })
    expect(link.out).toMatch(new RegExp(`^${here.url}/login\\?ticket=[A-Za-z0-9_-]{43}\\n$`))
    const path = link.out.trim().slice(here.url.length)
    expect((await ask({ port: here.port, path })).status).toBe(200)
    expect((await ask({ port: here.port, path })).status).toBe(401)
    const other = join(here.directory, 'other.crt')
    writeFileSync(other, (await createAuthority('other')).certificate)
    expect(await keelson('--login', here.url, '--certificate', other)).toMatchObject({ status: 1, out: '' })
    expect(await keelson('--login', 'http://127.0.0.1:1')).toMatchObject({ status: 2, out: '' })
  })
})

test('a client certificate needs the group system:masters, and one of another CA is not known', async () => {
  const ca = await createAuthority('ca')
  const here = await start({
    prepare: (directory) => {
      writeFileSync(join(directory, 'ca.crt'), ca.certificate)
      return { clientCAFile: join(directory, 'ca.crt') }
    },
  })
  const groups = ['system:masters']
  const certificate = await createLeaf(ca, { user: 'ops', groups })
  expect(await ask({ port: here.port, path: '/pods', certificate })).toMatchObject({
    status: 200,
    body: 'pods for ops',
  })
  for (const groups of [[], ['lowpriv'], ['system:nodes', 'system:authenticated'], ['System:Masters']]) {
    const lesser = await createLeaf(ca, { user: 'system:masters', groups })
    expect((await ask({ port: here.port, path: '/pods', certificate: lesser })).status, groups.join()).toBe(
      403,
    )
  }
  const other = await createLeaf(await createAuthority('ca'), { user: 'ops', groups })
  expect((await ask({ port: here.port, path: '/pods', certificate: other })).status).toBe(401)
})

describe('opened by configuration only', () => {
  test('AlwaysAllow still asks who is there', async () => {
    const here = await start({
      settings: { authorization: { mode: 'AlwaysAllow', allowTtlMs: 0, denyTtlMs: 0 } },
    })
    expect((await ask({ port: here.port, path: '/pods' })).status).toBe(401)
    expect((await ask({ port: here.port, path: '/pods', token: tokenOf(here) })).status).toBe(200)
  })

  test('anonymous callers without AlwaysAllow are known and may do nothing', async () => {
    const here = await start({ settings: { anonymous: true } })
    expect(await ask({ port: here.port, path: '/pods' })).toMatchObject({
      status: 403,
      body: 'Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
    })
    expect((await ask({ port: here.port, path: '/pods', token: 'wrong' })).status).toBe(401)
  })

  test('an unknown token is an anonymous caller where the webhook is off; the local one and sessions count', async () => {
    const here = await start({
      settings: { anonymous: true, tokenReview: { enabled: false, cacheTtlMs: 0 } },
    })
    const pods = (more: object) => ask({ port: here.port, path: '/pods', ...more })
    expect(await pods({ token: 'unknown' })).toMatchObject({
      status: 403,
      body: expect.stringContaining('user=system:anonymous'),
    })
    expect((await pods({ token: tokenOf(here) })).body).toBe('pods for keelson:local')
    // What is shown and malformed, or a session that is over, is still refused.
    expect((await pods({ headers: { authorization: 'Bearer a b' } })).status).toBe(401)
    const cookie = `__Host-keelson-${here.port}=${'A'.repeat(43)}`
    expect((await pods({ headers: { cookie } })).status).toBe(401)
  })

  test('both together open the server, and the log says so', async () => {
    const here = await start({
      settings: { anonymous: true, authorization: { mode: 'AlwaysAllow', allowTtlMs: 0, denyTtlMs: 0 } },
    })
    expect((await ask({ port: here.port, path: '/pods' })).body).toBe('pods for system:anonymous')
    expect((await ask({ port: here.port, path: '/pods', token: 'wrong' })).status).toBe(401)
    expect(here.lines.filter((l) => l.level === 'warn')).toHaveLength(1)
  })

  test('debugging handlers off: 405 with upstream’s text, for those who may ask', async () => {
    const here = await start({ settings: { enableDebuggingHandlers: false } })
    for (const path of ['/run/a/b/c', '/exec/a/b/c', '/logs/x', '/containerLogs/a/b/c', '/debug/pprof/']) {
      const told = await ask({ port: here.port, method: 'POST', path, token: tokenOf(here) })
      expect(told, path).toMatchObject({ status: 405, body: 'Debug endpoints are disabled.\n' })
      expect((await ask({ port: here.port, method: 'POST', path })).status).toBe(401)
    }
    expect((await ask({ port: here.port, path: '/pods', token: tokenOf(here) })).status).toBe(200)
  })
})

describe('the other ports', () => {
  const anyPort = async (): Promise<number> => {
    const probe = await startHere()
    const { port } = probe
    await probe.end()
    return port
  }

  test('health: plain HTTP, /healthz and nothing else', async () => {
    const here = await start({ settings: { healthzPort: await anyPort() } })
    expect(await plain(here.healthPort, '/healthz')).toEqual({ status: 200, body: 'ok' })
    for (const path of ['/metrics', '/pods', '/configz', '/login', '/', '/run/a/b/c'])
      expect((await plain(here.healthPort, path)).status, path).toBe(404)
    expect((await plain(here.healthPort, '/healthz', {}, 'POST')).status).toBe(405)
    expect((await plain(here.healthPort, '/healthz', { host: 'evil.example' })).status).toBe(403)
    expect((await plain(here.healthPort, '/healthz', { host: 'localhost:10248' })).status).toBe(200)
  })

  test('read-only: off by default; where it is on it shows values and runs nothing', async () => {
    expect((await start()).readOnlyPort).toBeUndefined()
    const here = await start({ settings: { readOnlyPort: await anyPort() } })
    expect((await plain(here.readOnlyPort, '/pods')).body).toBe('pods for system:anonymous')
    for (const path of ['/healthz', '/metrics', '/metrics/slis'])
      expect((await plain(here.readOnlyPort, path)).status, path).toBe(200)
    for (const path of ['/configz', '/login', '/run/a/b/c', '/exec/a/b/c'])
      expect((await plain(here.readOnlyPort, path, {}, 'POST')).status, path).toBe(404)
    expect((await plain(here.readOnlyPort, '/pods', { host: 'rebound.example' })).status).toBe(403)
  })

  test('a port that is taken is an error that names it, and nothing stays open', async () => {
    const here = await start()
    const taken = startHere({ settings: { healthzPort: here.port } })
    await expect(taken).rejects.toMatchObject({
      code: 'server.listen',
      message: expect.stringContaining(String(here.port)),
    })
  })
})

describe('health checks', () => {
  test('each by its name, all together, and counted for slis', async () => {
    const state = { problem: undefined as string | undefined }
    const here = await start({ healthChecks: [{ name: 'syncloop', check: () => state.problem }] })
    const get = (path: string) => ask({ port: here.port, path, token: tokenOf(here) })
    expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok' })
    expect(await get('/healthz?verbose')).toMatchObject({
      body: '[+]ping ok\n[+]filesystem ok\n[+]syncloop ok\nhealthz check passed\n',
    })
    expect((await get('/healthz/syncloop')).status).toBe(200)
    expect((await get('/healthz/none')).status).toBe(404)
    state.problem = 'no sync for 3 minutes'
    expect(await get('/healthz')).toMatchObject({
      status: 500,
      body: '[+]ping ok\n[+]filesystem ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
    })
    expect((await get('/healthz/ping')).status).toBe(200)
    expect((await get('/metrics/slis')).body).toContain(
      'kubernetes_healthcheck{name="syncloop",type="healthz"} 0',
    )
    expect(here.lines.some((l) => l.message === 'health check failed')).toBe(true)
  })
})

describe('limits of an endpoint', () => {
  test('a body that is too large is refused, with and without its length', async () => {
    const here = await start({ settings: {} })
    const body = 'x'.repeat(70_000)
    const post = (headers: Record<string, string>) =>
      ask({ port: here.port, method: 'POST', path: '/run/a/b/c', token: tokenOf(here), body, headers })
    expect((await post({ 'content-length': '70000' })).status).toBe(413)
    expect((await post({ 'transfer-encoding': 'chunked' })).status).toBe(413)
  })

  test('an endpoint that takes too long is ended, one too many is put off', async () => {
    const started: AbortSignal[] = []
    const here = await start({
      endpoints: [
        {
          name: 'slow',
          path: '/slow',
          methods: ['GET'],
          timeoutMs: 700,
          handle: (_, { signal }) => {
            started.push(signal)
            return new Promise(() => undefined)
          },
        },
      ],
      settings: {
        requests: {
          maxRequests: 2,
          maxLongRunning: 1,
          maxWaiting: 8,
          requestTimeoutMs: 1000,
          longRunningTimeoutMs: 1000,
          maxBodyBytes: 10,
        },
      },
    })
    const get = () => ask({ port: here.port, path: '/slow', token: tokenOf(here) })
    const slow = [get(), get()]
    await expect.poll(() => started.length).toBe(2)
    expect(await get()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect((await Promise.all(slow)).map((t) => t.status)).toEqual([504, 504])
    expect(started.every((s) => s.aborted)).toBe(true)
    expect((await get()).status).toBe(504)
  })

  test('errors are a Status for those who ask for JSON', async () => {
    const here = await start()
    const told = await ask({
      port: here.port,
      path: '/nothing',
      token: tokenOf(here),
      headers: { accept: 'application/json' },
    })
    expect(JSON.parse(told.body)).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
    })
  })
})

test('the log has no query, no header and no token in it', async () => {
  const here = await start()
  await ask({
    port: here.port,
    path: '/pods?token=query-secret&command=cat',
    token: tokenOf(here),
    headers: { cookie: 'a=cookie-secret' },
  })
  await ask({ port: here.port, path: '/login?ticket=ticket-secret' })
  const text = JSON.stringify(here.lines)
  expect(text).toContain('"path":"/pods"')
  expect(text).not.toMatch(/query-secret|cookie-secret|ticket-secret|command/)
  expect(text).not.toContain(tokenOf(here))
})
