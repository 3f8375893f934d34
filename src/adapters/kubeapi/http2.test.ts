// Connections of the HTTP/2 client, against Node's own server: how many there are, when one ends, and what its calls see.
import { once } from 'node:events'
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createSecureContext } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { startFaultProxy } from '../../../test/support/fault-proxy.js'
import { createSelfSigned } from '../tls/self-signed.js'
import { createHttp2 } from './http2.js'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type OnStream = (stream: ServerHttp2Stream, path: string, session: ServerHttp2Session) => void

/** `/watch` begins an answer that does not end; the rest is answered with its path. */
const answer: OnStream = (stream, path) => {
  stream.on('error', () => undefined).respond({ ':status': 200 })
  if (path === '/watch') stream.write('{}\n')
  else stream.end(path)
}

async function setUp({
  streams = 100,
  tickMs,
  onStream = answer,
}: {
  streams?: number
  tickMs?: number
  onStream?: OnStream
} = {}) {
  const { certificate: cert, key } = await createSelfSigned('server', ['127.0.0.1'])
  const server = createSecureServer({ cert, key, settings: { maxConcurrentStreams: streams } })
  const sessions: ServerHttp2Session[] = []
  const pings: number[] = []
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => undefined).on('ping', () => pings.push(Date.now()))
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) =>
    onStream(stream, String(headers[':path']), stream.session as ServerHttp2Session),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const tls = { secureContext: createSecureContext({ ca: cert }), rejectUnauthorized: true }
  const channel = createHttp2(
    { origin: `https://127.0.0.1:${proxy.port}`, host: '127.0.0.1', port: proxy.port, tls },
    tickMs,
  )
  closing.push(
    () => proxy.close(),
    () => server.close(),
    () => channel.destroy(),
  )
  const send = async (path: string, body?: string) => {
    const { signal } = new AbortController()
    const found = await channel.send({
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers: {},
      body,
      signal,
    })
    if (found === undefined) throw new Error('no HTTP/2')
    return found
  }
  const open = () => sessions.filter((s) => !s.destroyed).length
  return { channel, send, sessions, open, pings, proxy }
}

test('a hundred watches and the calls beside them have one connection', async () => {
  const { send, sessions } = await setUp({ streams: 250 })
  const watches = await Promise.all(Array.from({ length: 100 }, () => send('/watch')))
  expect(await text((await send('/call', 'body')).body)).toBe('/call')
  expect(sessions).toHaveLength(1)
  expect(watches.every(({ body }) => !body.destroyed)).toBe(true)
})

test('more streams than the server allows on one connection: a second one, not a queue', async () => {
  const { send, sessions } = await setUp({ streams: 4 })
  const watches = await Promise.all(Array.from({ length: 10 }, () => send('/watch')))
  expect(sessions).toHaveLength(3)
  watches[0]?.body.destroy()
  await expect.poll(() => send('/watch').then(() => sessions.length)).toBe(3)
})

test('GOAWAY: a watch goes on, new calls have a new connection', async () => {
  const { send, sessions } = await setUp()
  const { body } = await send('/watch')
  sessions[0]?.goaway()
  await expect.poll(async () => text((await send('/x')).body).then(() => sessions.length)).toBe(2)
  expect(body.destroyed).toBe(false)
  expect(body.errored).toBeNull()
})

test('a call that the closing server did not look at is sent again, though it is a POST', async () => {
  let isClosing = false
  const { send, sessions } = await setUp({
    onStream(stream, path, session) {
      if (path === '/first' || isClosing) return answer(stream, path, session)
      isClosing = true
      stream.on('error', () => undefined)
      // The first stream is the last one that it looked at.
      session.goaway(0, 1)
    },
  })
  await text((await send('/first')).body)
  expect(await text((await send('/once', '{}')).body)).toBe('/once')
  expect(sessions).toHaveLength(2)
})

test('a connection that dies without a word ends after a ping; the next call has another', async () => {
  const { send, pings, proxy, open } = await setUp({ tickMs: 40 })
  const { body } = await send('/watch')
  body.resume()
  const failed = once(body, 'error')
  proxy.set('silent')
  const [error] = (await failed) as [NodeJS.ErrnoException]
  expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'the server does not answer pings' })
  expect(pings).toHaveLength(0)
  proxy.set('none')
  expect(await text((await send('/after')).body)).toBe('/after')
  expect(open()).toBeGreaterThan(0)
})

test('a silent watch on a healthy connection stays: its pings are answered', async () => {
  const { send, pings } = await setUp({ tickMs: 20 })
  const { body } = await send('/watch')
  await expect.poll(() => pings.length).toBeGreaterThan(5)
  expect(body.destroyed).toBe(false)
})

test('a connection without a call is closed', async () => {
  const { send, open } = await setUp({ tickMs: 20 })
  await text((await send('/x')).body)
  await expect.poll(open).toBe(0)
  expect(await text((await send('/y')).body)).toBe('/y')
})

test('retired: calls under way end as usual, and then the connection', async () => {
  let finish: (() => void) | undefined
  const { channel, send, open } = await setUp({
    onStream(stream) {
      stream.respond({ ':status': 200 })
      finish = () => void stream.end('late')
    },
  })
  const { body } = await send('/slow')
  channel.retire()
  finish?.()
  expect(await text(body)).toBe('late')
  await expect.poll(open).toBe(0)
})

test('a deadline while the connection is being made ends the call, and a server that comes later is found', async () => {
  const { channel, send, proxy } = await setUp()
  proxy.set('silent')
  const why = new Error('too late')
  const request = { method: 'GET', path: '/x', headers: {}, body: undefined }
  const first = channel.send({ ...request, signal: AbortSignal.abort(why) }).catch((e: unknown) => e)
  expect(await first).toBe(why)
  const ending = new AbortController()
  const second = channel.send({ ...request, signal: ending.signal }).catch((e: unknown) => e)
  await expect.poll(() => proxy.opened()).toBe(1)
  ending.abort(why)
  expect(await second).toBe(why)
  proxy.cut()
  proxy.set('none')
  await expect.poll(async () => send('/y').then(({ status }) => status, String)).toBe(200)
})
