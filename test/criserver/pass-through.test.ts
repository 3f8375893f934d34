// What the CRI server does not answer goes by untouched: bytes, metadata, statuses, cancellation, deadlines.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import {
  frame,
  openSession,
  type RawAnswer,
  rawCall,
  readRaw,
  requestHeaders,
  statusIn,
  withoutDate,
} from './raw-client.js'
import { answerWith, type Play, startRawUpstream } from './scripted-upstream.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function fixture(plays: Readonly<Record<string, Play>>, unread?: ReadonlySet<string>) {
  const upstream = await startRawUpstream(plays, unread === undefined ? {} : { unread })
  closers.push(() => upstream.close())
  const server = await startServerFixture(upstream.endpoint)
  closers.push(() => server.close())
  const direct = await openSession(upstream.socketPath)
  const through = await openSession(server.socketPath)
  closers.push(
    () => direct.destroy(),
    () => through.destroy(),
  )
  return { upstream, server, direct, through }
}

async function sameBothWays(
  b: Awaited<ReturnType<typeof fixture>>,
  path: string,
  body: Uint8Array,
  extra = {},
): Promise<RawAnswer> {
  const direct = await rawCall(b.direct, path, body, extra)
  const through = await rawCall(b.through, path, body, extra)
  assert.deepEqual(withoutDate(through), withoutDate(direct))
  return through
}

describe('pass-through: the same answer as without us', () => {
  const bytes = randomBytes(5_000_000)
  const rows: { readonly name: string; readonly play: Play; readonly rst?: number }[] = [
    { name: 'a message', play: (s) => answerWith(s, frame(Buffer.from('hello'))) },
    { name: 'an empty message', play: (s) => answerWith(s, frame(Buffer.alloc(0))) },
    { name: 'a body of 5 MB', play: (s) => answerWith(s, frame(bytes)) },
    { name: 'a body that is no gRPC frame', play: (s) => answerWith(s, Buffer.from([9, 9, 9])) },
    {
      name: 'repeated metadata keys, binary ones too',
      play: (s) =>
        answerWith(
          s,
          frame(Buffer.from('x')),
          { 'grpc-status': '0', 'x-two': ['c', 'd, e'], 'y-bin': ['AAEC', '/w=='] },
          { 'x-one': ['a', 'b', 'a'], 'z-bin': ['AA', 'AQ'] },
        ),
    },
    {
      name: 'a failure with details, in headers alone',
      play: (s) =>
        s.respond(
          {
            ':status': 200,
            'content-type': 'application/grpc',
            'grpc-status': '5',
            'grpc-message': 'no such: 100%25 caf%C3%A9 a/b',
            'grpc-status-details-bin': 'CAUSBHRlc3Q',
            'x-extra': ['1', '2'],
          },
          { endStream: true },
        ),
    },
    {
      name: 'a failure after messages',
      play: (s) =>
        answerWith(s, frame(Buffer.from('part')), { 'grpc-status': '13', 'grpc-message': 'broke' }),
    },
    {
      name: 'a code that gRPC does not have',
      play: (s) => answerWith(s, frame(Buffer.alloc(1)), { 'grpc-status': '99' }),
    },
    {
      name: 'no status at all',
      play: (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' })
        s.end(frame(Buffer.from('x')))
      },
    },
    {
      name: 'an HTTP answer that is no gRPC',
      play: (s) => {
        s.respond({ ':status': 404, 'content-type': 'text/plain' })
        s.end('no')
      },
    },
    { name: 'a reset with INTERNAL_ERROR', rst: 2, play: (s) => s.close(2) },
    { name: 'a reset with REFUSED_STREAM', rst: 7, play: (s) => s.close(7) },
    {
      name: 'an end in the middle of a message',
      play: async (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' })
        s.write(frame(Buffer.alloc(100)).subarray(0, 50))
        await sleep(20)
        s.close(2)
      },
    },
  ]
  for (const { name, play, rst } of rows)
    test(name, async () => {
      const b = await fixture({ '/runtime.v1.RuntimeService/Version': play })
      const answer = await sameBothWays(b, '/runtime.v1.RuntimeService/Version', frame(Buffer.alloc(0)))
      assert.equal(answer.rstCode, rst ?? 0)
    })

  test('methods and services that nobody has heard of', async () => {
    const b = await fixture({ '/future.v9.Service/Do': (s, _h, body) => answerWith(s, body) })
    const echoed = await sameBothWays(b, '/future.v9.Service/Do', frame(Buffer.from('later')))
    assert.deepEqual(echoed.body, frame(Buffer.from('later')))
    assert.equal(statusIn(await sameBothWays(b, '/future.v9.Service/Other', frame(Buffer.alloc(0)))), '12')
  })

  test('request metadata reaches the runtime as it was sent, repeated keys too', async () => {
    const seen: unknown[] = []
    const b = await fixture({
      '/x.Y/Z': (s, headers) => {
        seen.push(headers)
        answerWith(s, frame(Buffer.alloc(0)))
      },
    })
    await sameBothWays(b, '/x.Y/Z', frame(Buffer.from('q')), {
      'grpc-timeout': '7S',
      'user-agent': 'grpc-go/1.59.0',
      'x-trace': ['1', '2'],
      'k-bin': ['AAEC', 'AwQ'],
      'grpc-accept-encoding': 'gzip',
    })
    assert.deepEqual(seen[1], seen[0])
  })

  test('a stream of messages in both directions', async () => {
    const echo: Play = async (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-end': 'yes' }))
      for await (const part of stream as AsyncIterable<Buffer>)
        if (!stream.write(part)) await once(stream, 'drain')
      stream.end()
    }
    const b = await fixture({ '/x.Y/Echo': echo }, new Set(['/x.Y/Echo']))
    const sent = Array.from({ length: 300 }, (_, i) => frame(randomBytes(i * 37)))
    const stream = b.through.request(requestHeaders('/x.Y/Echo'))
    const answer = readRaw(stream)
    for (const part of sent) if (!stream.write(part)) await once(stream, 'drain')
    stream.end()
    const { body, trailers, rstCode } = await answer
    assert.deepEqual(body, Buffer.concat(sent))
    assert.deepEqual(trailers, ['grpc-status', '0', 'x-end', 'yes'])
    assert.equal(rstCode, 0)
  })
})

/** A call that crosses a goodbye is refused as never begun; gRPC for Go repeats it by itself, our client leaves it to us. */
const asGoDoes = <T>(call: () => Promise<T>): Promise<T> =>
  call().catch((e: unknown) => {
    if (isKeelsonError(e) && /Stream refused by server/.test(e.message)) return call()
    throw e
  })

/** A machine with other work needs longer; what never happens fails. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await sleep(10)
  assert.ok(isSo(), isSo.toString())
}

describe('pass-through: endings', () => {
  const hang: Play = (s) => {
    s.respond({ ':status': 200, 'content-type': 'application/grpc' })
    s.write(frame(Buffer.from('first')))
  }

  test('a caller that cancels cancels the call in the runtime', async () => {
    const b = await fixture({ '/x.Y/Hang': hang, '/x.Y/Silent': () => {} })
    for (const path of ['/x.Y/Hang', '/x.Y/Silent']) {
      const stream = b.through.request(requestHeaders(path))
      const answer = readRaw(stream)
      stream.end(frame(Buffer.alloc(0)))
      await until(() => b.upstream.streams === 1)
      stream.close(8)
      await answer
      await until(() => b.upstream.streams === 0)
    }
    assert.deepEqual(b.upstream.resets, [8, 8])
    await until(() => b.server.server.counts.calls === 0)
  })

  test('a client that vanishes cancels all its calls in the runtime', async () => {
    const b = await fixture({ '/x.Y/Hang': hang })
    for (let i = 0; i < 20; i++) {
      const stream = b.through.request(requestHeaders('/x.Y/Hang'))
      stream.on('error', () => {})
      stream.end()
    }
    await until(() => b.upstream.streams === 20)
    b.through.destroy()
    await until(() => b.upstream.streams === 0 && b.server.server.counts.clients === 0)
    assert.deepEqual(b.server.server.counts, { clients: 0, calls: 0, upstream: 1 })
  })

  test('the runtime dies in a call: UNAVAILABLE before the headers and after them, and later calls work', async () => {
    const b = await fixture({
      '/x.Y/Hang': hang,
      '/x.Y/Silent': () => {},
      '/x.Y/Ok': (s) => answerWith(s, frame(Buffer.alloc(0))),
    })
    const early = rawCall(b.through, '/x.Y/Silent', frame(Buffer.alloc(0)))
    const late = rawCall(b.through, '/x.Y/Hang', frame(Buffer.alloc(0)))
    await until(() => b.upstream.streams === 2)
    await sleep(50)
    b.upstream.cutAll()
    const [e, l] = await Promise.all([early, late])
    assert.equal(statusIn(e), '14')
    assert.equal(e.headersEndStream, true)
    assert.equal(statusIn(l), '14')
    assert.deepEqual(l.body, frame(Buffer.from('first')))
    assert.equal(statusIn(await rawCall(b.through, '/x.Y/Ok', frame(Buffer.alloc(0)))), '0')
  })

  test('while the runtime is away: UNAVAILABLE at once; when it is back, calls work', async () => {
    const runtime = await startFakeRuntime({ Version: { value: { runtimeName: 'fake' } } })
    closers.push(() => runtime.close())
    const server = await startServerFixture(runtime.endpoint)
    closers.push(() => server.close())
    const client = createCriClient(server.endpoint)
    closers.push(() => client.close())
    for (let i = 0; i < 3; i++) {
      assert.equal((await client.runtime.version({})).runtimeName, 'fake')
      await runtime.stop()
      await sleep(20)
      const begun = performance.now()
      const error = await client.runtime.version({}, { timeoutMs: 10_000 }).catch((e: unknown) => e)
      assert.ok(isKeelsonError(error))
      assert.equal(error.code, 'runtime.unavailable')
      assert.match(error.message, /keelson: reach the container runtime at .*ENOENT/)
      assert.ok(performance.now() - begun < 5000)
      await runtime.start()
    }
  })

  test('a runtime that hangs: the deadline of the caller ends the call on both sides', async () => {
    const b = await fixture({ '/x.Y/Silent': () => {} })
    const begun = performance.now()
    const answer = await rawCall(b.through, '/x.Y/Silent', frame(Buffer.alloc(0)), { 'grpc-timeout': '200m' })
    assert.equal(statusIn(answer), '4')
    assert.ok(performance.now() - begun < 5000)
    await until(() => b.upstream.streams === 0)
  })

  test('the runtime says goodbye (GOAWAY): calls under way end, new ones go over a new connection', async () => {
    const b = await fixture({
      '/x.Y/Slow': async (s) => {
        await sleep(150)
        answerWith(s, frame(Buffer.from('slow')))
      },
      '/x.Y/Bye': (s) => {
        s.session?.goaway(0)
        answerWith(s, frame(Buffer.from('bye')))
      },
    })
    const slow = rawCall(b.through, '/x.Y/Slow', frame(Buffer.alloc(0)))
    await sleep(20)
    assert.equal(statusIn(await rawCall(b.through, '/x.Y/Bye', frame(Buffer.alloc(0)))), '0')
    await sleep(20)
    assert.equal(statusIn(await rawCall(b.through, '/x.Y/Slow', frame(Buffer.alloc(0)))), '0')
    assert.equal(statusIn(await slow), '0')
  })

  test('a connection that went deaf on a malformed frame is found by a ping and closed', async () => {
    const upstream = await startRawUpstream({ '/x.Y/Ok': (s) => answerWith(s, frame(Buffer.alloc(0))) })
    closers.push(() => upstream.close())
    const server = await startServerFixture(upstream.endpoint, { livenessMs: 30 })
    closers.push(() => server.close())
    const healthy = await openSession(server.socketPath)
    closers.push(() => healthy.destroy())
    const socket = connect(server.socketPath)
    socket.on('error', () => {})
    await once(socket, 'connect')
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const tooLong = Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])
    await until(() => server.server.counts.clients === 2)
    socket.write(Buffer.concat([preface, Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), tooLong]))
    await sleep(30)
    socket.destroy()
    await until(() => server.server.counts.clients < 2)
    // The next round of pings.
    await sleep(100)
    assert.equal(server.server.counts.clients, 1, 'the healthy one stays')
    assert.equal(statusIn(await rawCall(healthy, '/x.Y/Ok', frame(Buffer.alloc(0)))), '0')
  })

  test('5,000 cancelled calls leave a stream of the same client alone, and no call fails', async () => {
    const runtime = await startFakeRuntime({
      GetContainerEvents: { values: [{ containerId: 'one' }], ending: 'hang' },
      Version: { value: { runtimeName: 'fake' } },
      ExecSync: { hang: true },
    })
    closers.push(() => runtime.close())
    const server = await startServerFixture(runtime.endpoint)
    closers.push(() => server.close())
    const kubelet = createCriClient(server.endpoint)
    closers.push(() => kubelet.close())
    const events = kubelet.runtime
      .getContainerEvents({}, { timeoutMs: Number.POSITIVE_INFINITY })
      [Symbol.asyncIterator]()
    assert.equal((await events.next()).value?.containerId, 'one')
    let ended = false
    const next = events.next().then(
      () => {
        ended = true
      },
      () => {
        ended = true
      },
    )
    for (let wave = 0; wave < 50; wave++) {
      const stop = new AbortController()
      const calls = Array.from({ length: 100 }, () =>
        kubelet.runtime
          .execSync({ containerId: 'x', cmd: ['y'] }, { signal: stop.signal })
          .catch((e: unknown) => e),
      )
      await sleep(5)
      stop.abort()
      const errors = await Promise.all(calls)
      for (const e of errors)
        assert.ok(
          isKeelsonError(e) && /^runtime.cancelled|refused by server/.test(`${e.code} ${e.message}`),
          String(e),
        )
      assert.equal((await asGoDoes(() => kubelet.runtime.version({}))).runtimeName, 'fake')
    }
    assert.equal(ended, false, 'the event stream lives on')
    await until(() => server.server.counts.calls === 1)
    kubelet.close()
    await next
  })
})
