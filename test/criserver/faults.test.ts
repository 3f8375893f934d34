// Faults on both sides of a running server: nothing leaks, nothing hangs, and every later call works.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttp2Server } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { frame, openSession, rawCall, readRaw, requestHeaders, statusIn } from './raw-client.js'
import { answerWith, type Play, startRawUpstream } from './scripted-upstream.js'
import { startServerFixture } from './server-fixture.js'
import { type ServerProcess, startServerProcess } from './server-process.js'

let bundle: Bundle | undefined
const closers: (() => unknown)[] = []
beforeAll(async () => {
  bundle = await bundleCommand()
})
afterAll(async () => {
  await bundle?.remove()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function startServer(upstream: string): Promise<ServerProcess> {
  const server = await startServerProcess(bundle?.main ?? '', upstream)
  closers.push(() => server.close())
  return server
}

const ok = '/x.Y/Ok'
const okPlay: Play = (s) => answerWith(s, frame(Buffer.from('ok')))

async function assertWorks(socketPath: string): Promise<void> {
  const session = await openSession(socketPath)
  assert.equal(statusIn(await rawCall(session, ok, frame(Buffer.alloc(0)))), '0')
  session.destroy()
}

/** Descriptors are given back within a moment. */
async function settledDescriptors(server: ServerProcess, atMost: number): Promise<number> {
  for (let i = 0; i < 500 && server.descriptors() > atMost; i++) await sleep(20)
  return server.descriptors()
}

describe('faults', () => {
  test('the runtime killed 100 times under load: each call ends, with the answer or UNAVAILABLE', {
    timeout: 240_000,
  }, async () => {
    const runtime = await startFakeRuntime({
      Version: { value: { runtimeName: 'fake' }, delayMs: 3 },
      ListContainers: { value: { containers: [{ id: 'x' }] } },
      GetContainerEvents: { values: [{ containerId: 'e' }], ending: 'hang' },
    })
    closers.push(() => runtime.close())
    const server = await startServer(runtime.endpoint)
    const client = createCriClient(server.endpoint)
    closers.push(() => client.close())
    await client.runtime.version({})
    const before = server.descriptors()
    const ends = { ok: 0, unavailable: 0 }
    let running = true
    const note = (e: unknown): void => {
      assert.ok(isKeelsonError(e) && e.code === 'runtime.unavailable', String(e))
      ends.unavailable += 1
    }
    const calls = async (): Promise<void> => {
      while (running) {
        await client.runtime.version({}, { timeoutMs: 30_000 }).then(() => (ends.ok += 1), note)
        await client.runtime.listContainers({}, { timeoutMs: 30_000 }).then(() => (ends.ok += 1), note)
      }
    }
    const watch = async (): Promise<void> => {
      while (running)
        try {
          for await (const _ of client.runtime.getContainerEvents({}, { timeoutMs: 30_000 }))
            if (!running) break
        } catch (e) {
          if (running) note(e)
        }
    }
    const load = [...Array.from({ length: 16 }, calls), ...Array.from({ length: 4 }, watch)]
    for (let i = 0; i < 100; i++) {
      const before = ends.ok
      await sleep(15)
      // On a busy machine the next kill waits until something got through again.
      for (let j = 0; j < 200 && ends.ok === before; j++) await sleep(5)
      if (i % 2 === 0) await runtime.restart()
      else runtime.cutAll()
    }
    running = false
    runtime.cutAll()
    await Promise.all(load)
    assert.ok(ends.ok >= 100 && ends.unavailable > 100, JSON.stringify(ends))
    assert.equal((await client.runtime.version({})).runtimeName, 'fake')
    assert.ok((await settledDescriptors(server, before + 1)) <= before + 1)
    console.log(`100 kills: ${JSON.stringify(ends)}, ${server.residentMiB().toFixed(0)} MiB`)
  })

  test('2,000 streams cancelled in the middle: none is left in the runtime', {
    timeout: 240_000,
  }, async () => {
    const upstream = await startRawUpstream({
      '/x.Y/Endless': (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' })
        const more = (): void => {
          if (!s.destroyed && s.write(frame(Buffer.alloc(1000)))) setTimeout(more, 1)
          else s.once('drain', more)
        }
        more()
      },
      [ok]: okPlay,
    })
    closers.push(() => upstream.close())
    const server = await startServer(upstream.endpoint)
    await assertWorks(server.socketPath)
    const before = server.descriptors()
    for (let wave = 0; wave < 20; wave++) {
      const session = await openSession(server.socketPath)
      const streams = Array.from({ length: 100 }, () => {
        const stream = session.request(requestHeaders('/x.Y/Endless'))
        stream.on('error', () => {})
        stream.end(frame(Buffer.alloc(0)))
        return stream
      })
      await Promise.all(streams.map((s) => once(s, 'data')))
      if (wave % 2 === 0) for (const s of streams) s.close(8)
      else session.destroy()
      await sleep(5)
      session.destroy()
    }
    for (let i = 0; i < 500 && upstream.streams > 0; i++) await sleep(20)
    assert.equal(upstream.streams, 0)
    await assertWorks(server.socketPath)
    assert.ok((await settledDescriptors(server, before + 1)) <= before + 1)
  })

  test('a refusal in the middle of an upload: the caller has it, and nothing is left of the call', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-refusal-'))
    // Does not wait for the request, as a Go server whose limit is passed.
    const runtime = createHttp2Server((request, response) => {
      const isWhole = request.url === ok
      response.stream.respond({ ':status': 200, 'grpc-status': isWhole ? '0' : '8' }, { endStream: true })
    })
    runtime.listen(join(dir, 's'))
    await once(runtime, 'listening')
    closers.push(
      () => rm(dir, { recursive: true }),
      () => runtime.close(),
    )
    const fixture = await startServerFixture(`unix://${join(dir, 's')}`)
    closers.push(() => fixture.close())
    for (let i = 0; i < 10; i++) {
      const session = await openSession(fixture.socketPath)
      const stream = session.request(requestHeaders('/x.Y/TooLarge'))
      stream.on('error', () => {})
      stream.write(Buffer.alloc(1024 * 1024))
      const [headers] = (await once(stream, 'response')) as [Record<string, string>]
      assert.equal(headers['grpc-status'], '8')
      // As Go's client does with an answer that comes before it has sent everything; or it simply goes.
      if (i % 2 === 0) stream.close(0)
      else session.destroy()
      await sleep(20)
      session.destroy()
    }
    for (let i = 0; i < 500 && fixture.server.counts.calls > 0; i++) await sleep(20)
    assert.equal(fixture.server.counts.calls, 0)
    await assertWorks(fixture.socketPath)
  })

  test('half-open and malformed connections are closed and hurt nobody else', {
    timeout: 240_000,
  }, async () => {
    const upstream = await startRawUpstream({
      [ok]: okPlay,
      '/x.Y/Slow': async (s) => {
        await sleep(500)
        await okPlay(s, {}, Buffer.alloc(0))
      },
    })
    closers.push(() => upstream.close())
    const server = await startServerFixture(upstream.endpoint, { livenessMs: 100, greetingMs: 1000 })
    closers.push(() => server.close())
    await assertWorks(server.socketPath)
    const session = await openSession(server.socketPath)
    const slow = rawCall(session, '/x.Y/Slow', frame(Buffer.alloc(0)))
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const sockets: Socket[] = []
    const bad = [
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      randomBytes(300),
      preface.subarray(0, 10),
      Buffer.concat([preface, randomBytes(200)]),
      Buffer.concat([preface, settings, Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])]),
      Buffer.concat([preface, settings, Buffer.from([0, 0, 4, 1, 4, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])]),
      Buffer.concat([preface, settings, Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0])]),
      Buffer.concat([preface, settings, Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 99, 0])]),
    ]
    for (let round = 0; round < 20; round++)
      for (const bytes of bad) {
        const socket = connect(server.socketPath)
        socket.on('error', () => {})
        sockets.push(socket)
        await once(socket, 'connect')
        socket.write(bytes)
        if (round % 3 === 0) socket.end()
        await sleep(1)
        if (round % 3 === 1) socket.destroy()
        if (round % 3 === 2) setTimeout(() => socket.destroy(), 300)
      }
    assert.equal(statusIn(await slow), '0')
    session.destroy()
    await assertWorks(server.socketPath)
    for (let i = 0; i < 500 && server.server.counts.clients > 0; i++) await sleep(20)
    assert.deepEqual(server.server.counts, { clients: 0, calls: 0, upstream: 1 })
    for (const socket of sockets) socket.destroy()
  })

  test('a connection that never speaks is closed after the greeting time', { timeout: 120_000 }, async () => {
    const upstream = await startRawUpstream({ [ok]: okPlay })
    closers.push(() => upstream.close())
    const server = await startServer(upstream.endpoint)
    const silent = connect(server.socketPath)
    silent.on('error', () => {})
    const begun = performance.now()
    silent.resume()
    await once(silent, 'close')
    assert.ok(performance.now() - begun > 8000 && performance.now() - begun < 20_000)
  })

  test('a runtime that sends garbage: UNAVAILABLE, and the next connection works', {
    timeout: 120_000,
  }, async () => {
    const upstream = await startRawUpstream({ [ok]: okPlay })
    closers.push(() => upstream.close())
    const server = await startServer(upstream.endpoint)
    await assertWorks(server.socketPath)
    await upstream.stop()
    for (const bytes of [
      randomBytes(500),
      Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
      Buffer.alloc(9),
    ]) {
      const garbage = createServer((socket) => {
        socket.on('error', () => {})
        socket.write(bytes)
        setTimeout(() => socket.destroy(), 50)
      })
      garbage.listen(upstream.socketPath)
      await once(garbage, 'listening')
      const session = await openSession(server.socketPath)
      const answers = await Promise.all(
        Array.from({ length: 5 }, () =>
          rawCall(session, ok, frame(Buffer.alloc(0)), { 'grpc-timeout': '20S' }),
        ),
      )
      for (const a of answers) assert.equal(statusIn(a), '14')
      session.destroy()
      await new Promise((done) => garbage.close(done))
    }
    await upstream.start()
    await assertWorks(server.socketPath)
  })

  test('answers of 64 MiB, whole and unchanged, to a quick and a slow reader; one that stops reading costs a window', {
    timeout: 240_000,
  }, async () => {
    const bytes = randomBytes(64 * 1024 * 1024)
    const upstream = await startRawUpstream({
      '/x.Y/Large': async (s) => {
        s.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        s.once('wantTrailers', () => s.sendTrailers({ 'grpc-status': '0' }))
        for (let at = 0; at < bytes.length && !s.destroyed; at += 65_536)
          if (!s.write(bytes.subarray(at, at + 65_536))) await once(s, 'drain').catch(() => {})
        s.end()
      },
      [ok]: okPlay,
    })
    closers.push(() => upstream.close())
    const server = await startServer(upstream.endpoint)
    await assertWorks(server.socketPath)
    const session = await openSession(server.socketPath)
    const stuck = Array.from({ length: 20 }, () => {
      const stream = session.request(requestHeaders('/x.Y/Large'))
      stream.on('error', () => {})
      stream.end(frame(Buffer.alloc(0)))
      stream.pause()
      return stream
    })
    await Promise.all(stuck.map((s) => once(s, 'response')))
    await sleep(300)
    const held = server.residentMiB()
    const quick = await rawCall(session, '/x.Y/Large', frame(Buffer.alloc(0)))
    assert.ok(quick.body.equals(bytes), 'the quick reader has all bytes beside 20 that stopped reading')
    const slow = session.request(requestHeaders('/x.Y/Large'))
    slow.end(frame(Buffer.alloc(0)))
    const pauses = setInterval(() => {
      slow.pause()
      setTimeout(() => slow.resume(), 10)
    }, 20)
    const slowly = await readRaw(slow)
    clearInterval(pauses)
    assert.ok(slowly.body.equals(bytes))
    for (const s of stuck) s.close(8)
    session.destroy()
    console.log(
      `64 MiB answers: ${held.toFixed(0)} MiB resident with 20 stopped readers, ${server.residentMiB().toFixed(0)} after`,
    )
    assert.ok(held < 220, `${held} MiB`)
    await assertWorks(server.socketPath)
  })
})
