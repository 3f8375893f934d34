// Our side of HTTP/2 against Node's, which is nghttp2: what one of them gets wrong, the other refuses.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
  sensitiveHeaders,
} from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RawMetadata } from '../../ports/cri-calls.js'
import { RuntimeConnection } from './h2-connection.js'
import type { RuntimeStream } from './h2-stream.js'

const window = 1024 * 1024
const fields = (path: string, ...more: string[]): string[] => [
  ...[':method', 'POST', ':scheme', 'http', ':path', path, ':authority', 'localhost', 'te', 'trailers'],
  ...['content-type', 'application/grpc', ...more],
]

interface Seen {
  headers: RawMetadata
  sensitive: readonly string[]
  isHeadersOnly: boolean
  trailers: RawMetadata
  body: Buffer
  /** `whole`, `lost`, or the code of a reset. */
  ending: 'whole' | 'lost' | number
}

/** All that becomes of a call; `holds`: nothing is given back to the runtime. */
function see(stream: RuntimeStream, holds = false): Promise<Seen> {
  const seen: Seen = {
    ...{ headers: [], sensitive: [], isHeadersOnly: false, trailers: [], ending: 'lost' },
    body: Buffer.alloc(0),
  }
  const parts: Buffer[] = []
  return new Promise((resolve) => {
    const end = (ending: Seen['ending']): void => resolve({ ...seen, ending, body: Buffer.concat(parts) })
    stream.attach({
      headers(list, isLast, sensitive) {
        Object.assign(seen, { headers: list, isHeadersOnly: isLast, sensitive })
        if (isLast) end('whole')
      },
      data(portion) {
        parts.push(portion.copy())
        if (!holds) stream.consumed(portion.size)
      },
      end(list) {
        seen.trailers = list
        end('whole')
      },
      broken: (code) => end(code ?? 'lost'),
    })
  })
}

let directory: string
let server: Http2Server
const sessions = new Set<ServerHttp2Session>()
const open = new Set<RuntimeConnection>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-h2-'))
})
afterEach(async () => {
  for (const one of open) one.destroy()
  open.clear()
  for (const session of sessions) session.destroy()
  sessions.clear()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

type Play = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: RawMetadata) => void

async function serve(play: Play, options: ServerOptions = {}): Promise<void> {
  server = createServer(options)
  server.on('session', (session) => sessions.add(session))
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers, _flags, raw?: RawMetadata) => {
    stream.on('error', () => {})
    play(stream, headers, raw ?? [])
  })
  server.listen(join(directory, 's'))
  await once(server, 'listening')
}

/** `cut`: the bytes come in pieces of this length. */
async function dial(cut = Number.POSITIVE_INFINITY): Promise<RuntimeConnection> {
  const socket = connect(join(directory, 's'))
  await once(socket, 'connect')
  const connection = new RuntimeConnection(socket, {
    streamWindowBytes: window,
    connectionWindowBytes: 2 * window,
    onSettled: () => {},
    onGoaway: () => {},
    onClose: () => {},
  })
  socket.on('data', (bytes) => {
    for (let at = 0; at < bytes.length; at += cut) connection.read(bytes.subarray(at, at + cut))
  })
  open.add(connection)
  return connection
}

function ask(
  connection: RuntimeConnection,
  path: string,
  body?: Uint8Array,
  ...more: string[]
): Promise<Seen> {
  const stream = connection.request(fields(path, ...more), undefined, body === undefined, () => {})
  if (body !== undefined) stream.end(body)
  return see(stream)
}

/** Says back what it was told. */
const echo: Play = (stream, _headers, raw) => {
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('end', () => {
    stream.once('wantTrailers', () =>
      stream.sendTrailers({ 'grpc-status': '0', 'x-raw': JSON.stringify(raw) }),
    )
    stream.respond({ ':status': 200, 'x-twice': ['a', 'b'] }, { waitForTrailers: true })
    stream.end(Buffer.concat(parts))
  })
}

const field = (list: RawMetadata, name: string): string | undefined => list[list.indexOf(name) + 1]

describe('a call', () => {
  test.each([1, 7, 1000, Number.POSITIVE_INFINITY])(
    'goes and comes byte by byte, cut into pieces of %s',
    async (cut) => {
      await serve(echo)
      const body = randomBytes(60_000)
      const seen = await ask(await dial(cut), '/x', body, 'x-key', 'one', 'x-key', 'two')
      expect(seen.ending).toBe('whole')
      expect(seen.body.equals(body)).toBe(true)
      expect(seen.headers.filter((v) => v === 'x-twice')).toHaveLength(2)
      const sent = JSON.parse(field(seen.trailers, 'x-raw') ?? '[]') as string[]
      expect(sent.slice(-4)).toEqual(['x-key', 'one', 'x-key', 'two'])
    },
  )

  test('without a body, and an answer of headers alone', async () => {
    await serve((stream) => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true }))
    const seen = await ask(await dial(), '/x')
    expect(seen).toMatchObject({ ending: 'whole', isHeadersOnly: true })
    expect(field(seen.headers, 'grpc-status')).toBe('12')
  })

  test('an answer that ends without trailers', async () => {
    await serve((stream) => {
      stream.respond({ ':status': 200 })
      stream.end('all')
    })
    const seen = await ask(await dial(), '/x', Buffer.from('q'))
    expect([seen.ending, seen.body.toString(), seen.trailers]).toEqual(['whole', 'all', []])
  })

  test('an informational answer before the real one is passed over', async () => {
    await serve((stream) => {
      stream.additionalHeaders({ ':status': 103 })
      stream.respond({ ':status': 200 })
      stream.end()
    })
    expect(field((await ask(await dial(), '/x')).headers, ':status')).toBe('200')
  })

  test('fields larger than a frame, both ways; secret ones keep their mark', async () => {
    await serve((stream, headers) => {
      stream.respond(
        { ':status': 200, 'x-big': headers['x-big'], 'x-secret': 's', [sensitiveHeaders]: ['x-secret'] },
        { endStream: true },
      )
    })
    const big = 'b'.repeat(40_000)
    const connection = await dial()
    const stream = connection.request(fields('/x', 'x-big', big), new Set(['x-big']), true, () => {})
    const seen = await see(stream)
    expect(field(seen.headers, 'x-big')).toBe(big)
    expect(seen.sensitive).toEqual(['x-secret'])
  })

  test('padded frames count for the window and are no part of the answer', async () => {
    await serve(echo, { paddingStrategy: constants.PADDING_STRATEGY_MAX })
    const body = randomBytes(4 * window)
    const seen = await ask(await dial(333), '/x', body)
    expect(seen.body.equals(body)).toBe(true)
  })
})

describe('windows', () => {
  test('9 MB each way through a server of small windows', async () => {
    await serve(echo, { settings: { initialWindowSize: 20_000 } })
    const body = randomBytes(9_000_000)
    const seen = await ask(await dial(), '/x', body)
    expect(seen.body.equals(body)).toBe(true)
  })

  test('what is not given back stops the runtime, and only this call', async () => {
    let written = 0
    await serve((stream, headers) => {
      stream.respond({ ':status': 200 })
      if (headers[':path'] !== '/endless') return void stream.end('quick')
      const more = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(16_384))) written += 16_384
        if (!stream.destroyed) stream.once('drain', more)
      }
      more()
    })
    const connection = await dial()
    const slow = connection.request(fields('/endless'), undefined, true, () => {})
    void see(slow, true)
    for (let i = 0; i < 5; i++) expect((await ask(connection, '/quick')).body.toString()).toBe('quick')
    expect(written).toBeLessThan(window + 256 * 1024)
    slow.cancel(8)
    expect((await ask(connection, '/quick')).body.toString()).toBe('quick')
  })

  test('a smaller window for calls under way and new ones, and the larger one again', async () => {
    await serve(echo)
    const connection = await dial()
    connection.setWindow(10_000)
    const body = randomBytes(3 * window)
    expect((await ask(connection, '/x', body)).body.equals(body)).toBe(true)
    connection.setWindow(window)
    expect((await ask(connection, '/x', body)).body.equals(body)).toBe(true)
    expect(connection.unacknowledged).toBe(0)
  })

  test('a window made smaller in the middle of an answer: what was held back for a larger one is given back', async () => {
    let say: ((bytes: number) => void) | undefined
    await serve((stream) => {
      stream.respond({ ':status': 200 })
      say = (bytes) => void stream.write(Buffer.alloc(bytes))
    })
    const connection = await dial()
    const stream = connection.request(fields('/events'), undefined, true, () => {})
    let got = 0
    stream.attach({
      headers() {},
      data(portion) {
        got += portion.size
        stream.consumed(portion.size)
      },
      end() {},
      broken() {},
    })
    const until = (bytes: number): Promise<void> => expect.poll(() => got).toBe(bytes)
    while (say === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    say(400_000)
    await until(400_000)
    connection.setWindow(65_536)
    say(1000)
    await until(401_000)
  })

  test('a request that the runtime does not take makes its writer wait', async () => {
    let taker: ServerHttp2Stream | undefined
    await serve((stream) => {
      taker = stream
      stream.respond({ ':status': 200 })
    })
    const connection = await dial()
    const stream = connection.request(fields('/x'), undefined, false, () => {})
    void see(stream)
    let isFull = false
    for (let i = 0; i < 100 && !isFull; i++) isFull = !stream.write(Buffer.alloc(16_384))
    expect(isFull).toBe(true)
    const drained = new Promise<void>((resolve) => {
      stream.onDrain = resolve
    })
    while (taker === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    taker.resume()
    await drained
  })

  test('no more calls at once than the runtime allows; the others follow', async () => {
    let most = 0
    let now = 0
    await serve(
      (stream) => {
        most = Math.max(most, ++now)
        setTimeout(() => {
          now -= 1
          stream.respond({ ':status': 200 }, { endStream: true })
        }, 5)
      },
      { settings: { maxConcurrentStreams: 3 } },
    )
    const connection = await dial()
    await ask(connection, '/first')
    const all = await Promise.all(Array.from({ length: 20 }, () => ask(connection, '/x')))
    expect(all.every((s) => s.ending === 'whole')).toBe(true)
    expect(most).toBe(3)
    // Given up while it waits: its turn never comes, and nobody misses it.
    const under = [1, 2, 3].map(() => ask(connection, '/x'))
    const left: boolean[] = []
    const waiting = connection.request(fields('/x'), undefined, true, (wasReset) => left.push(wasReset))
    waiting.cancel(8)
    expect(left).toEqual([false])
    await Promise.all(under)
    expect((await ask(connection, '/x')).ending).toBe('whole')
  })
})

describe('endings', () => {
  test('a reset comes with its code; ours reaches the runtime with its code', async () => {
    const codes: number[] = []
    let taken = 0
    await serve((stream, headers) => {
      if (headers[':path'] === '/reset') return stream.close(11)
      stream.respond({ ':status': 200 })
      taken += 1
      stream.once('close', () => codes.push(stream.rstCode))
    })
    const connection = await dial()
    expect((await ask(connection, '/reset')).ending).toBe(11)
    const resets: boolean[] = []
    const stream = connection.request(fields('/x'), undefined, true, (wasReset) => resets.push(wasReset))
    await expect.poll(() => taken).toBe(1)
    stream.cancel(8)
    await expect.poll(() => codes).toEqual([8])
    expect([resets, stream.isOver]).toEqual([[true], true])
  })

  test('a whole answer ends a request that is still being sent, and its writer waits no longer', async () => {
    await serve((stream) => stream.respond({ ':status': 200, 'grpc-status': '8' }, { endStream: true }))
    const connection = await dial()
    const ends: boolean[] = []
    const stream = connection.request(fields('/x'), undefined, false, (wasReset) => ends.push(wasReset))
    const seen = see(stream)
    while (stream.write(Buffer.alloc(16_384)));
    const drained = new Promise<void>((resolve) => {
      stream.onDrain = resolve
    })
    expect((await seen).ending).toBe('whole')
    await drained
    expect([stream.isOver, ends]).toEqual([true, [true]])
  })

  test('after a goodbye those under way are answered, and no new one begins', async () => {
    await serve((stream) => {
      stream.session?.goaway()
      setTimeout(() => stream.respond({ ':status': 200 }, { endStream: true }), 30)
    })
    const connection = await dial()
    const seen = await ask(connection, '/x')
    expect([seen.ending, connection.isOpen]).toEqual(['whole', false])
  })

  test('a lost connection ends every call, waiting ones too, and each later one at once', async () => {
    let taken = 0
    const play: Play = (stream, headers) => {
      if (headers[':path'] === '/first') return stream.respond({ ':status': 200 }, { endStream: true })
      taken += 1
    }
    await serve(play, { settings: { maxConcurrentStreams: 2 } })
    const connection = await dial()
    // After an answer its settings are known.
    await ask(connection, '/first')
    const all = Array.from({ length: 5 }, () => ask(connection, '/x'))
    await expect.poll(() => taken).toBe(2)
    for (const session of sessions) session.destroy()
    // Node says its last word to some: a reset without a reason.
    expect((await Promise.all(all)).every((s) => s.ending === 'lost' || s.ending === 0)).toBe(true)
    expect((await ask(connection, '/x')).ending).toBe('lost')
  })
})
