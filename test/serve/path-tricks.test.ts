// Spellings of a request that two readers could take for two requests. None of them may give a caller more than the plain
// spelling would. Each case goes over its own TLS connection, byte by byte as written here.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiStub, startApiStub } from './api-stub.js'
import { forEachLimited, raw } from './client.js'
import { createAuthority } from './pki.js'
import { type Served, settingsIn, startStandIn, temporaryDirectory } from './start.js'

const directory = temporaryDirectory()
let api: ApiStub
let served: Served

beforeAll(async () => {
  const ca = await createAuthority('cluster-ca')
  api = await startApiStub(directory.path, ca)
  api.tokens.set('scraper-token', { username: 'scraper', groups: [] })
  api.tokens.set('admin-token', { username: 'admin', groups: [] })
  api.rights.set('scraper', new Set(['get metrics', 'get stats', 'get healthz']))
  api.rights.set('admin', new Set(['* *']))
  const caFile = join(directory.path, 'ca.crt')
  writeFileSync(caFile, ca.certificate)
  const settings = settingsIn(directory.path, 'kubelet', { clientCAFile: caFile })
  served = await startStandIn({ settings, kubeconfig: api.kubeconfig })
})

afterAll(async () => {
  await served.stop()
  await api.close()
  directory.remove()
})

const scraper = 'Authorization: Bearer scraper-token\r\n'
const request = (line: string, headers: string, body = ''): string =>
  `${line}\r\nHost: 127.0.0.1\r\n${headers}\r\n${body}`
const statuses = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => Number(m[1]))

/** Endings the caller may not reach, behind a beginning that they may. */
const forbidden = [
  '/exec/ns/p/c',
  '/run/ns/p/c',
  '/containerLogs/ns/p/c',
  '/pods',
  '/configz',
  '/logs/secret',
]
const permitted = ['/metrics', '/stats', '/healthz', '/metrics/cadvisor', '/stats/summary']
const joints = [
  (a: string, b: string) => `${a}/..${b}`,
  (a: string, b: string) => `${a}/%2e%2e${b}`,
  (a: string, b: string) => `${a}/%2E%2E${b}`,
  (a: string, b: string) => `${a}/.%2e${b}`,
  (a: string, b: string) => `${a}%2f..${b}`,
  (a: string, b: string) => `${a}/..%2f${b.slice(1)}`,
  (a: string, b: string) => `${a}/../..${b}`,
  (a: string, b: string) => `${a}\\..${b}`,
  (a: string, b: string) => `${a}%5c..${b}`,
  (a: string, b: string) => `${a}/%252e%252e${b}`,
  (a: string, b: string) => `${a}/..;${b}`,
  (a: string, b: string) => `${a}/.${b}/../..${b}`,
  (a: string, b: string) => `${a}/..%00${b}`,
  (a: string, b: string) => `${a}//..${b}`,
  (a: string, b: string) => `${a}/%c0%ae%c0%ae${b}`,
  (a: string, b: string) => `${a}/..%c0%af${b.slice(1)}`,
]
const climbing = permitted.flatMap((a) => forbidden.flatMap((b) => joints.map((j) => j(a, b))))

/** Other spellings of what is forbidden: at best they are as forbidden. */
const respelled = forbidden.flatMap((path) => [
  `/${path}`,
  `//${path}`,
  `/.${path}`,
  `/%2e${path}`,
  `/%2f${path}`,
  path.replace('/', '/%2F'),
  path.replace(/^\/(.)/, (_, c: string) => `/%${c.charCodeAt(0).toString(16)}`),
  path.replace(/^\/(.)/, (_, c: string) => `/%25${c.charCodeAt(0).toString(16)}`),
  path.toUpperCase(),
  path.replace(/^\/(.)/, (_, c: string) => `/${c.toUpperCase()}`),
  `${path}?/../metrics`,
  `${path}#/metrics`,
  `${path};/metrics`,
  `${path}%3f/metrics`,
  `${path}%00`,
  `${path}/`,
  `${path}//`,
  `${path}/.`,
  `http://127.0.0.1${path}`,
  `https://127.0.0.1/metrics${path}`,
  `https://127.0.0.1${path}`,
  `//metrics${path}`,
  `@127.0.0.1${path}`,
  `/\\metrics${path}`,
])

/** A beginning that looks like a permitted one. */
const lookalikes = ['stats', 'metrics', 'healthz'].flatMap((word) => [
  `/${word}foo`,
  `/${word}.`,
  `/${word};x`,
  `/${word}%20`,
  `/${word}:`,
  `/x${word}`,
  `/${word.toUpperCase()}`,
  `/${word}\u00e9`,
  `/${word}%00/cadvisor`,
])

describe('a caller with the rights of a scraper', () => {
  test('the plain spellings work, so the cases below mean something', async () => {
    expect(statuses(await raw(served.port, request('GET /metrics HTTP/1.1', scraper)))).toEqual([200])
    expect(statuses(await raw(served.port, request('GET /pods HTTP/1.1', scraper)))).toEqual([403])
  })

  for (const { name, targets, allowed } of [
    { name: 'climbing out of a permitted path', targets: climbing, allowed: [400, 403, 404] },
    { name: 'another spelling of a forbidden path', targets: respelled, allowed: [400, 403] },
    { name: 'a path that looks like a permitted one', targets: lookalikes, allowed: [400, 403] },
  ])
    test(`${name}: ${targets.length} cases`, async () => {
      expect(new Set(targets).size).toBe(targets.length)
      const wrong: string[] = []
      await forEachLimited(targets, 8, async (target) => {
        const answer = await raw(served.port, request(`GET ${target} HTTP/1.1`, scraper), 60)
        const got = statuses(answer)
        if (got.length !== 1 || !allowed.includes(got[0] ?? 0)) wrong.push(`${target}: ${got.join(' ')}`)
        if (/ for scraper/.test(answer)) wrong.push(`${target}: an endpoint answered`)
      })
      expect(wrong).toEqual([])
    })

  const methods = [
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'PURGE',
    'M-SEARCH',
    'get',
    'FOO',
    'G ET',
    '',
    'POST\t',
    'QUERY',
    'PRI',
  ]
  test(`odd methods: ${methods.length * 2} cases`, async () => {
    for (const method of methods)
      for (const path of ['/metrics', '/exec/ns/p/c']) {
        const got = statuses(await raw(served.port, request(`${method} ${path} HTTP/1.1`, scraper), 60))
        expect(
          got.filter((s) => s < 400),
          `${method} ${path}`,
        ).toEqual([])
      }
  })
})

describe('headers that say two things', () => {
  const cases: Record<string, string> = {
    'two tokens, the weaker first': request(
      'GET /pods HTTP/1.1',
      `${scraper}Authorization: Bearer admin-token\r\n`,
    ),
    'two tokens, the stronger first': request(
      'GET /pods HTTP/1.1',
      `Authorization: Bearer admin-token\r\n${scraper}`,
    ),
    'two tokens in one header': request(
      'GET /pods HTTP/1.1',
      'Authorization: Bearer scraper-token, Bearer admin-token\r\n',
    ),
    'two hosts': request('GET /pods HTTP/1.1', `Host: other\r\n${scraper}`),
    'a folded header': request('GET /pods HTTP/1.1', 'Authorization: Bearer\r\n admin-token\r\n'),
    'a space before the colon': request('GET /pods HTTP/1.1', 'Authorization : Bearer admin-token\r\n'),
    'a bare line feed': 'GET /pods HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer scraper-token\n\n',
    'a NUL in a value': request('GET /pods HTTP/1.1', 'Authorization: Bearer admin\0-token\r\n'),
    'names of a proxy before us': request(
      'GET /pods HTTP/1.1',
      `${scraper}X-Original-URL: /metrics\r\nX-Rewrite-URL: /metrics\r\nX-Forwarded-User: admin\r\nX-Remote-User: admin\r\nX-Remote-Group: system:masters\r\nImpersonate-User: admin\r\n`,
    ),
    'another method by header': request(
      'GET /exec/ns/p/c HTTP/1.1',
      `${scraper}X-HTTP-Method-Override: POST\r\n`,
    ),
    'no host': `GET /pods HTTP/1.1\r\n${scraper}\r\n`,
    'an old version': `GET /pods HTTP/1.0\r\n${scraper}\r\n`,
    'HTTP/2 in clear': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an upgrade to h2c': request('GET /pods HTTP/1.1', `${scraper}Connection: Upgrade\r\nUpgrade: h2c\r\n`),
  }
  test.each(Object.keys(cases))('%s', async (name) => {
    const got = statuses(await raw(served.port, cases[name] ?? ''))
    expect(got.every((s) => s >= 400)).toBe(true)
    expect(got.length).toBeLessThanOrEqual(1)
  })
})

describe('a request inside a request is never answered', () => {
  const inner =
    'GET /pods HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer admin-token\r\nX-Inner: 1\r\n\r\n'
  const outer = (headers: string, body: string): string =>
    request('POST /stats/summary HTTP/1.1', `${scraper}${headers}`, body)
  const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`
  const cases: Record<string, string> = {
    'length and chunked': outer(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${inner}`),
    'chunked and length': outer(
      `Transfer-Encoding: chunked\r\nContent-Length: ${inner.length}\r\n`,
      `0\r\n\r\n${inner}`,
    ),
    'two lengths that differ': outer(`Content-Length: 0\r\nContent-Length: ${inner.length}\r\n`, inner),
    'two lengths in one header': outer(`Content-Length: 0, ${inner.length}\r\n`, inner),
    'a signed length': outer('Content-Length: +0\r\n', inner),
    'a negative length': outer('Content-Length: -1\r\n', inner),
    'a length in hex': outer('Content-Length: 0x0\r\n', inner),
    'a length with a tail': outer('Content-Length: 0 1\r\n', inner),
    'chunked in other clothes': outer('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${inner}`),
    'chunked not last': outer('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${inner}`),
    'chunked twice': outer(
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
      `0\r\n\r\n${inner}`,
    ),
    'chunked after a tab': outer('Transfer-Encoding:\tx\r\n', `0\r\n\r\n${inner}`),
    'chunked behind a space': outer('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${inner}`),
    'a chunk size with a sign': outer('Transfer-Encoding: chunked\r\n', `+0\r\n\r\n${inner}`),
    'a chunk size that overflows': outer('Transfer-Encoding: chunked\r\n', `ffffffffffffffff1\r\n${inner}`),
    'a chunk without its end': outer('Transfer-Encoding: chunked\r\n', `1\r\nxx\r\n0\r\n\r\n${inner}`),
    'a line feed in the chunk head': outer('Transfer-Encoding: chunked\r\n', `0\n\n${inner}`),
    'as the body of a GET without rights': request(
      'GET /pods HTTP/1.1',
      `${scraper}Content-Length: ${inner.length}\r\n`,
      inner,
    ),
    'as a chunk of a GET without rights': request(
      'GET /pods HTTP/1.1',
      `${scraper}Transfer-Encoding: chunked\r\n`,
      chunk,
    ),
    'behind a refused upgrade': request(
      'GET /exec/ns/p/c HTTP/1.1',
      `${scraper}Connection: Upgrade\r\nUpgrade: websocket\r\n`,
      inner,
    ),
    'behind a refused expectation': outer(`Expect: 100-continue\r\nContent-Length: 99999999\r\n`, inner),
  }
  test.each(Object.keys(cases))('%s', async (name) => {
    const answer = await raw(served.port, cases[name] ?? '')
    expect(answer).not.toMatch(/pods for admin/)
    expect(statuses(answer).filter((s) => s === 200).length).toBeLessThanOrEqual(1)
  })

  test('two honest requests on one connection are each judged alone', async () => {
    const both = request('GET /metrics/slis HTTP/1.1', scraper) + request('GET /pods HTTP/1.1', scraper)
    expect(statuses(await raw(served.port, both, 2000))).toEqual([200, 403])
  })
})

test('no label of a metric comes from a caller', async () => {
  const answer = await raw(served.port, request('GET /metrics HTTP/1.1', scraper), 2000)
  const paths = new Set([...answer.matchAll(/[{,]path="([^"]*)"/g)].map((m) => m[1]))
  for (const path of paths)
    expect([
      'metrics',
      'pods',
      'exec',
      'other',
      'healthz',
      'healthz/check',
      'configz',
      'run',
      'logs',
      'containerLogs',
      'metrics/slis',
      'metrics/cadvisor',
      'stats/summary',
    ]).toContain(path)
  const methods = new Set([...answer.matchAll(/[{,]method="([^"]*)"/g)].map((m) => m[1]))
  for (const method of methods) expect(['GET', 'HEAD', 'OPTIONS', 'POST', 'other']).toContain(method)
})
