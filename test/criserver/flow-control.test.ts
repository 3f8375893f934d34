// How much may be under way between a caller and the runtime, both ways, and how many calls at once; informational answers and
// fields that must not enter a compression table.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  createServer,
  type Http2Session,
  type Http2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
  sensitiveHeaders,
} from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, test } from 'vitest'
import { frame, openSession, rawCall, readRaw, requestHeaders, statusIn } from './raw-client.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Play = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

const grpc = { ':status': 200, 'content-type': 'application/grpc' }
const empty = frame(Buffer.alloc(0))

function answer(stream: ServerHttp2Stream, body: Uint8Array = empty): void {
  if (stream.destroyed) return
  stream.respond(grpc, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(body)
}

/** A runtime with settings of its own, the server before it, and a session to the server. */
async function start(play: Play, options: ServerOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-flow-'))
  const sessions = new Set<Http2Session>()
  const runtime = createServer(options)
  runtime.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
  })
  runtime.on('sessionError', () => {})
  runtime.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => {})
    play(stream, headers)
  })
  runtime.listen(join(dir, 's'))
  await once(runtime, 'listening')
  closers.push(() => {
    for (const session of sessions) session.destroy()
    runtime.close()
    rmSync(dir, { recursive: true })
  })
  const server = await startServerFixture(`unix://${join(dir, 's')}`)
  closers.push(() => server.close())
  const session = await openSession(server.socketPath)
  closers.push(() => session.destroy())
  return { server, session, sessions }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !isSo(); i++) await sleep(5)
  assert.ok(isSo(), isSo.toString())
}

/** Says back what it was told, piece by piece. */
const echo: Play = (stream) => {
  stream.respond(grpc, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.pipe(stream)
}

const writeEndlessly = (stream: Http2Stream, count: (bytes: number) => void): void => {
  const more = (): void => {
    while (!stream.destroyed) {
      count(16_384)
      if (!stream.write(Buffer.alloc(16_384))) return void stream.once('drain', more)
    }
  }
  more()
}

describe('flow control', () => {
  test('9 MB each way through a runtime of small windows', async () => {
    const { session } = await start(echo, { settings: { initialWindowSize: 20_000 } })
    const body = randomBytes(9_000_000)
    const got = await rawCall(session, '/x.Y/Echo', body)
    assert.ok(got.body.equals(body))
    assert.equal(statusIn(got), '0')
  })

  test('a caller that stops reading stops the runtime, and only for its own call', async () => {
    let written = 0
    const { session } = await start((stream, headers) => {
      if (headers[':path'] === '/x.Y/Quick') return answer(stream)
      stream.respond(grpc)
      writeEndlessly(stream, (n) => {
        written += n
      })
    })
    const stopped = session.request(requestHeaders('/x.Y/Endless'))
    stopped.on('error', () => {})
    stopped.end(empty)
    await once(stopped, 'response')
    stopped.pause()
    for (let i = 0; i < 5; i++) assert.equal(statusIn(await rawCall(session, '/x.Y/Quick', empty)), '0')
    let before = -1
    for (; before !== written; await sleep(100)) before = written
    // The windows of the caller and the runtime's, 4 MiB each, and what lies in sockets and streams between.
    assert.ok(written < 12 * 1024 * 1024, `${written} bytes`)
    stopped.close(8)
    assert.equal(statusIn(await rawCall(session, '/x.Y/Quick', empty)), '0')
  })

  test('an upload that the runtime does not take makes its caller wait, and goes on when it does', async () => {
    let taker: ServerHttp2Stream | undefined
    const { session } = await start((stream) => {
      taker = stream
      stream.respond(grpc)
    })
    const stream = session.request(requestHeaders('/x.Y/Upload'))
    stream.on('error', () => {})
    let sent = 0
    writeEndlessly(stream, (n) => {
      sent += n
    })
    let before = -1
    for (; before !== sent; await sleep(100)) before = sent
    assert.ok(sent < 4 * 1024 * 1024, `${sent} bytes`)
    await until(() => taker !== undefined)
    taker?.resume()
    await until(() => sent > before + 10 * 1024 * 1024)
    stream.close(8)
  })

  test('windows made smaller by many calls, in the middle of an answer: the answer goes on', async () => {
    let say: ((bytes: number) => void) | undefined
    const { session } = await start((stream, headers) => {
      if (headers[':path'] !== '/x.Y/Events') return
      stream.respond(grpc)
      say = (bytes) => void stream.write(Buffer.alloc(bytes))
    })
    const events = session.request(requestHeaders('/x.Y/Events'))
    let got = 0
    events.on('data', (part: Buffer) => {
      got += part.length
    })
    events.on('error', () => {})
    events.end(empty)
    await until(() => say !== undefined)
    say?.(3_000_000)
    await until(() => got === 3_000_000)
    for (let i = 0; i < 400; i++) {
      const other = session.request(requestHeaders('/x.Y/Hang'))
      other.on('error', () => {})
      other.end(empty)
    }
    await sleep(100)
    for (let i = 1; i <= 5; i++) {
      say?.(200_000)
      await until(() => got === 3_000_000 + i * 200_000)
    }
  })

  test('a whole answer ends a request that is still being sent, in the runtime and for its caller', async () => {
    const resets: number[] = []
    const { server, session } = await start((stream) => {
      stream.once('close', () => resets.push(stream.rstCode))
      stream.respond({ ...grpc, 'grpc-status': '8' }, { endStream: true })
    })
    const stream = session.request(requestHeaders('/x.Y/Upload'))
    stream.on('error', () => {})
    stream.write(Buffer.alloc(1024 * 1024))
    const [headers] = (await once(stream, 'response')) as [Record<string, string>]
    assert.equal(headers['grpc-status'], '8')
    await until(() => resets.length === 1)
    stream.end(Buffer.alloc(1024 * 1024))
    await once(stream, 'close')
    await until(() => server.server.counts.calls === 0)
  })
})

describe('calls at once', () => {
  test('no more than the runtime allows; the others follow, and one given up while it waits is not missed', async () => {
    let [now, most, all] = [0, 0, 0]
    const { session } = await start(
      (stream) => {
        all += 1
        most = Math.max(most, ++now)
        setTimeout(() => {
          now -= 1
          answer(stream)
        }, 5)
      },
      { settings: { maxConcurrentStreams: 3 } },
    )
    const call = (): Promise<string | undefined> => rawCall(session, '/x.Y/Z', empty).then(statusIn)
    // After an answer the runtime's settings are known.
    await call()
    const codes = await Promise.all(Array.from({ length: 20 }, call))
    assert.ok(codes.every((code) => code === '0'))
    assert.equal(most, 3)
    const before = all
    const underWay = [call(), call(), call()]
    const waiting = session.request(requestHeaders('/x.Y/Z'))
    const left = readRaw(waiting)
    waiting.end(empty)
    await sleep(1)
    waiting.close(8)
    await Promise.all([...underWay, left])
    assert.equal(await call(), '0')
    assert.ok(all <= before + 5)
  })
})

describe('fields', () => {
  test('an informational answer before the real one is passed over', async () => {
    const { session } = await start((stream) => {
      stream.additionalHeaders({ ':status': 103 })
      answer(stream)
    })
    const got = await rawCall(session, '/x.Y/Z', empty)
    assert.deepEqual(got.headers.slice(0, 2), [':status', '200'])
    assert.equal(statusIn(got), '0')
  })

  test('those that must not enter a compression table keep their mark, both ways', async () => {
    const seen: unknown[] = []
    const { session } = await start((stream, headers) => {
      seen.push((headers as { [mark: symbol]: unknown })[sensitiveHeaders], headers['x-token'])
      stream.respond(
        { ...grpc, 'grpc-status': '0', 'x-secret': 's', [sensitiveHeaders]: ['x-secret'] },
        { endStream: true },
      )
    })
    const marked = { ...requestHeaders('/x.Y/Z'), 'x-token': 't', [sensitiveHeaders]: ['x-token'] }
    const stream = session.request(marked)
    stream.end(empty)
    const [headers] = (await once(stream, 'response')) as [{ [mark: symbol]: unknown }]
    assert.deepEqual(seen, [['x-token'], 't'])
    assert.deepEqual(headers[sensitiveHeaders], ['x-secret'])
  })
})
