// HEAD is answered as GET is, without the body: on every path that takes GET, on every port, for texts, packed texts and streams.
import { readFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../src/serve/endpoint.js'
import { failure, textAnswer } from '../../src/serve/failures.js'
import { freePorts } from '../support/command.js'
import { type Here, sayPods, sayRun, startHere } from './here.js'

let ended = 0
async function* endless(signal: AbortSignal): AsyncGenerator<string> {
  signal.addEventListener('abort', () => ended++)
  yield 'one line\n'
  await new Promise(() => undefined)
}

const endpoints: readonly Endpoint[] = [
  sayPods,
  sayRun,
  {
    name: 'large',
    path: '/large',
    methods: ['GET'],
    readOnly: true,
    handle: () => ({ ...textAnswer(''), body: Buffer.from('a line of metrics\n'.repeat(5000)) }),
  },
  {
    name: 'missing',
    path: '/missing',
    methods: ['GET'],
    handle: (request) => failure(request, 404, 'no such pod'),
  },
  {
    name: 'stream',
    path: '/stream',
    methods: ['GET'],
    longRunning: true,
    handle: ({ signal }) => ({ ...textAnswer(''), body: endless(signal) }),
  },
]

let here: Here
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  const [healthzPort = 0, readOnlyPort = 0] = await freePorts(2)
  here = await startHere({ settings: { healthzPort, readOnlyPort }, endpoints })
})
afterAll(async () => {
  agent.destroy()
  await here.end()
})

interface Answer {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Only the first piece of a body that has no end. The date differs from one second to the next. */
function fetchWith(method: string, port: number | undefined, path: string, more = {}): Promise<Answer> {
  const token = readFileSync(join(here.directory, 'token'), 'utf8').trim()
  const isMain = port === here.port
  const request = isMain ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const req = request(
      {
        ...{ host: '127.0.0.1', port, path, method, timeout: 5000 },
        headers: isMain ? { authorization: `Bearer ${token}`, ...more } : more,
        ...(isMain ? { agent, rejectUnauthorized: false } : { agent: false }),
      },
      (res) => {
        const { date: _, ...headers } = res.headers
        let body = ''
        const done = (): void => resolve({ status: res.statusCode, headers, body })
        res.on('data', (data: Buffer) => {
          body += data.toString('latin1')
          if (path === '/stream') {
            done()
            res.destroy()
          }
        })
        res.on('end', done)
      },
    )
    req.on('timeout', () => req.destroy(new Error('no answer in time')))
    req.on('error', reject)
    req.end()
  })
}

async function expectSame(port: number | undefined, path: string, more = {}): Promise<Answer> {
  const { body, ...get } = await fetchWith('GET', port, path, more)
  expect(body.length, path).toBeGreaterThan(0)
  const head = await fetchWith('HEAD', port, path, more)
  expect(head, path).toEqual({ ...get, body: '' })
  return head
}

describe('HEAD: status and headers of GET, and no body', () => {
  test('on the main port', async () => {
    for (const path of ['/healthz', '/healthz/ping', '/configz', '/pods', '/metrics/slis', '/large'])
      expect((await expectSame(here.port, path)).status).toBe(200)
    expect((await expectSame(here.port, '/healthz?verbose')).headers['content-length']).not.toBe('2')
    expect((await expectSame(here.port, '/missing')).status).toBe(404)
    expect((await expectSame(here.port, '/nothing')).status).toBe(404)
  })

  test('on the health and the read-only port', async () => {
    expect((await expectSame(here.healthPort, '/healthz')).status).toBe(200)
    for (const path of ['/healthz', '/pods', '/large'])
      expect((await expectSame(here.readOnlyPort, path)).status).toBe(200)
    expect((await expectSame(here.healthPort, '/pods')).status).toBe(404)
    expect((await expectSame(here.healthPort, '/healthz', { host: 'evil.example' })).status).toBe(403)
  })

  test('a packed answer has the length of the packed one', async () => {
    const { headers } = await expectSame(here.port, '/large', { 'accept-encoding': 'gzip' })
    expect(headers['content-encoding']).toBe('gzip')
    expect(Number(headers['content-length'])).toBeLessThan(5000)
  })

  test('a stream without an end is answered at once, and its connection serves on', async () => {
    const { headers: get } = await fetchWith('GET', here.port, '/stream')
    const { 'transfer-encoding': _, ...rest } = get
    await expect.poll(() => ended).toBe(1)
    for (const _ of [1, 2]) {
      const head = await fetchWith('HEAD', here.port, '/stream')
      expect(head).toMatchObject({ status: 200, headers: rest, body: '' })
    }
    expect((await fetchWith('GET', here.port, '/healthz')).body).toBe('ok')
  })

  test('where GET does not exist, HEAD does not either', async () => {
    const head = await fetchWith('HEAD', here.port, '/run/a/b/c')
    expect(head).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    expect((await fetchWith('POST', here.port, '/pods')).headers['allow']).toBe('GET, HEAD')
  })
})
