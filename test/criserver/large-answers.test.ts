// However fast, slowly or never the callers of large answers read, each must see the runtime's bytes and nobody else's.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSession, readRaw, requestHeaders } from './raw-client.js'
import { answerWith, type RawUpstream, startRawUpstream } from './scripted-upstream.js'
import { type ServerFixture, startServerFixture } from './server-fixture.js'

const answerBytes = 6_000_000

/** Different at every place and in every answer: a word of the number of the answer and of the place. */
function answerOf(serial: number): Buffer {
  const words = new Uint32Array(answerBytes / 4)
  for (let i = 0; i < words.length; i++) words[i] = (serial << 24) ^ Math.imul(i + 1, 0x9e3779b1)
  return Buffer.from(words.buffer)
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

let upstream: RawUpstream
let server: ServerFixture
const sessions: ClientHttp2Session[] = []

beforeEach(async () => {
  upstream = await startRawUpstream({
    '/x/List': (stream, headers) => answerWith(stream, answerOf(Number(headers['x-serial']))),
    '/x/BrokenOff': async (stream, headers) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write(answerOf(Number(headers['x-serial'])).subarray(0, answerBytes / 4))
      await sleep(10)
      stream.close(11)
    },
  })
  server = await startServerFixture(upstream.endpoint)
})
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy()
  await server.close()
  await upstream.close()
})

const session = async (): Promise<ClientHttp2Session> => {
  const opened = await openSession(server.socketPath)
  sessions.push(opened)
  return opened
}

function ask(on: ClientHttp2Session, serial: number, path = '/x/List'): ClientHttp2Stream {
  const stream = on.request(requestHeaders(path, { 'x-serial': String(serial) }))
  stream.end(Buffer.alloc(5))
  return stream
}

async function readAll(on: ClientHttp2Session, serial: number): Promise<void> {
  const { body, trailers } = await readRaw(ask(on, serial))
  assert.equal(digest(body), digest(answerOf(serial)), `answer ${serial}`)
  assert.deepEqual(trailers, ['grpc-status', '0'])
}

/** Takes a piece, rests, and takes the next. */
async function readSlowly(on: ClientHttp2Session, serial: number): Promise<void> {
  const hash = createHash('sha256')
  let size = 0
  let untilRest = 500_000
  for await (const part of ask(on, serial) as AsyncIterable<Buffer>) {
    hash.update(part)
    size += part.length
    if (size < untilRest) continue
    untilRest += 500_000
    await sleep(5)
  }
  assert.equal(size, answerBytes)
  assert.equal(hash.digest('hex'), digest(answerOf(serial)), `slow answer ${serial}`)
}

/** Reads the beginning and then nothing more, without going away. */
async function stopReading(on: ClientHttp2Session, serial: number): Promise<() => Promise<void>> {
  const stream = ask(on, serial)
  stream.on('error', () => {})
  await once(stream, 'response')
  await once(stream, 'readable')
  return async () => {
    const parts: Buffer[] = []
    for await (const part of stream as AsyncIterable<Buffer>) parts.push(part)
    assert.equal(digest(Buffer.concat(parts)), digest(answerOf(serial)), `late answer ${serial}`)
  }
}

async function leaveEarly(on: ClientHttp2Session, serial: number): Promise<void> {
  const stream = ask(on, serial)
  stream.on('error', () => {})
  await once(stream, 'data')
  stream.close(8)
  await once(stream, 'close')
}

/** The runtime resets the call in the middle: as much as came is the beginning of the answer. */
async function readBrokenOff(on: ClientHttp2Session, serial: number): Promise<number> {
  const { body, rstCode } = await readRaw(ask(on, serial, '/x/BrokenOff'))
  assert.equal(rstCode, 11)
  assert.ok(body.equals(answerOf(serial).subarray(0, body.length)), `broken answer ${serial}`)
  return body.length
}

describe('every byte of large answers', () => {
  test('one after another, and many at once', async () => {
    const on = await session()
    for (let i = 0; i < 10; i++) await readAll(on, i)
    const others = await Promise.all([session(), session(), session()])
    await Promise.all(Array.from({ length: 12 }, (_, i) => readAll(others[i % 3] ?? on, i)))
  })

  test('slow readers, readers that stop for a while, and callers that leave in the middle', {
    timeout: 240_000,
  }, async () => {
    const [quick, slow, leaving] = await Promise.all([session(), session(), session()])
    const stopped = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => stopReading(await session(), 100 + i)),
    )
    for (let round = 0; round < 3; round++) {
      const serial = 10 * round
      await Promise.all([
        readSlowly(slow, serial),
        readSlowly(slow, serial + 1),
        leaveEarly(leaving, serial + 2),
        leaveEarly(leaving, serial + 3),
        readAll(quick, serial + 4),
        readAll(quick, serial + 5),
      ])
    }
    for (const goOn of stopped) await goOn()
    for (let i = 0; i < 5; i++) await readAll(quick, 50 + i)
    await expect.poll(() => upstream.streams).toBe(0)
    assert.deepEqual(server.errors, [])
  })

  test('calls that the runtime resets, among others', async () => {
    const [broken, quick] = await Promise.all([session(), session()])
    let came = 0
    for (let round = 0; round < 8; round++) {
      const all = Array.from({ length: 6 }, (_, i) => readBrokenOff(broken, 10 * round + i))
      await Promise.all([readAll(quick, 10 * round + 7), readAll(quick, 10 * round + 8)])
      for (const bytes of await Promise.all(all)) came += bytes
    }
    assert.ok(came > 0)
  })
})
