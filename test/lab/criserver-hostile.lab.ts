// A runtime that breaks the rules of HTTP/2, stays silent or floods: every call ends, at the latest at its deadline, the next
// connection works, and the server stays small. In the lab and not in `npm test`, because calls wait for their deadlines and floods
// take a core. Many sessions end here while others make garbage, which is when Node would end the process if it freed a session
// before its streams (src/adapters/http2/keep-session.ts).
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { answerFrames, type Conversation, startFrameRuntime } from '../criserver/frame-peers.js'
import {
  fieldBlock,
  flag,
  frameOf,
  frameType,
  headerFrames,
  numberFrame,
  settingsFrame,
} from '../criserver/frames.js'
import { data, headers, malformedAnswers, ok } from '../criserver/malformed-answers.js'
import {
  frame,
  openSession,
  type RawAnswer,
  rawCall,
  readRaw,
  requestHeaders,
  statusIn,
} from '../criserver/raw-client.js'
import { type ServerFixture, startServerFixture } from '../criserver/server-fixture.js'
import { type ServerProcess, startServerProcess } from '../criserver/server-process.js'
import { createRandom } from '../fuzz/random.js'
import { type Bundle, bundleCommand } from '../support/command.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const unavailable = '14'
const deadlineExceeded = '4'
const path = '/x.Y/Z'
const empty = frame(Buffer.alloc(0))

const wellBehaved: Conversation = {
  whole: (id, socket) => void socket.write(answerFrames(id, 'grpc-status', '0')),
}

/** The first connections go as told, all others well. */
async function startRuntime(...first: readonly Conversation[]) {
  const runtime = await startFrameRuntime((nth) => first[nth] ?? wellBehaved)
  closers.push(() => runtime.close())
  return runtime
}

async function startMachine(...first: readonly Conversation[]) {
  const runtime = await startRuntime(...first)
  const machine = await startServerFixture(runtime.endpoint, { livenessMs: 200 })
  closers.push(() => machine.close())
  const session = await openSession(machine.socketPath)
  closers.push(() => session.destroy())
  const call = (timeout = '50m'): Promise<RawAnswer> =>
    rawCall(session, path, empty, { 'grpc-timeout': timeout })
  return { runtime, machine, session, call }
}

/** A gRPC status, or a reset of the call; both end it for every caller. */
const hasEnded = (a: RawAnswer): boolean => a.rstCode !== 0 || statusIn(a) !== undefined

async function assertOneGoodConnection(
  machine: ServerFixture,
  call: () => Promise<RawAnswer>,
  label?: string,
): Promise<void> {
  // Calls of the doubted connection have ended by now: what is left of it is closed after the silence.
  let last = await call()
  for (let i = 0; i < 5 && statusIn(last) !== '0'; i++) last = await call()
  assert.equal(statusIn(last), '0', label)
  for (let i = 0; i < 500 && machine.server.counts.upstream > 1; i++) await sleep(10)
  assert.equal(machine.server.counts.upstream, 1, label)
  assert.deepEqual(machine.errors, [], label)
}

describe('a runtime that sends', () => {
  // Beside each other: after some of these frames nghttp2 hears nothing more, and the call waits for its deadline.
  test('malformed frames of every kind: each call ends, and the next ones work', async () => {
    const tryOne = async ([what, frames]: (typeof malformedAnswers)[number]): Promise<void> => {
      const { machine, call } = await startMachine({
        begun: (_id, socket) => void socket.write(Buffer.concat(frames)),
      })
      assert.ok(hasEnded(await call()), what)
      await assertOneGoodConnection(machine, call, what)
    }
    await Promise.all(malformedAnswers.map(tryOne))
  })

  test('frames of unknown types, priorities and words about calls that have ended: the answer is as it was', async () => {
    const strange = [
      frameOf(0x77, 0xff, 1, Buffer.alloc(100)),
      frameOf(2, 0, 1, Buffer.from([0, 0, 0, 0, 1])),
    ]
    const late = [numberFrame(8, 1, 5), numberFrame(3, 1, 8)]
    const trailers = headerFrames(1, fieldBlock('grpc-status', '0'), true)
    const { runtime, call } = await startMachine({
      whole: (id, socket) => {
        if (id > 1) return void socket.write(answerFrames(id, 'grpc-status', '0'))
        socket.write(
          Buffer.concat([...strange, headers(1), data(1, 'a'), ...strange, data(1, 'b'), trailers, ...late]),
        )
      },
    })
    const answer = await call('20S')
    assert.deepEqual([answer.body.toString(), statusIn(answer), answer.rstCode], ['ab', '0', 0])
    assert.equal(statusIn(await call('20S')), '0')
    assert.equal(runtime.accepted, 1)
  })

  test('an answer in padded frames: the padding is no part of it', async () => {
    const padded = (text: string): Buffer =>
      frameOf(0, flag.padded, 1, Buffer.concat([Buffer.from([200]), Buffer.from(text), Buffer.alloc(200)]))
    const texts = Array.from({ length: 50_000 }, (_, i) => `piece ${i};`)
    const { call } = await startMachine({
      whole: (_id, socket) => {
        const trailers = headerFrames(1, fieldBlock('grpc-status', '0'), true)
        // More than the window, with what is padding.
        socket.write(Buffer.concat([headers(1), ...texts.slice(0, 15_000).map(padded), trailers]))
      },
    })
    const answer = await call('20S')
    assert.equal(answer.body.toString(), texts.slice(0, 15_000).join(''))
  })

  test('its bytes one by one: the answer is whole', async () => {
    const { call } = await startMachine({
      whole: (id, socket) => {
        const bytes = answerFrames(id, 'grpc-status', '0', 'x-last', 'yes')
        const drip = async (): Promise<void> => {
          for (const byte of bytes) {
            socket.write(Buffer.of(byte))
            await sleep(1)
          }
        }
        drip().catch(() => {})
      },
    })
    assert.deepEqual((await call('20S')).trailers, ['grpc-status', '0', 'x-last', 'yes'])
  })

  test('mutated answers: every call ends, and the server works on', { timeout: 120_000 }, async () => {
    const good = Buffer.concat([
      ...[settingsFrame([3, 100]), headers(1), data(1, 'hello'), data(1, 'x'.repeat(300))],
      ...[numberFrame(8, 0, 1000), frameOf(6, 0, 0, Buffer.alloc(8)), headers(1, true)],
    ])
    const random = createRandom(7)
    const mutated = (): Buffer => {
      const bytes = Buffer.from(good)
      for (let k = 1 + random.below(3); k > 0; k--)
        bytes[random.below(bytes.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)])
      return bytes
    }
    // Each server has one connection at a time: many beside each other, because some wait for their deadlines.
    const many = async (): Promise<void> => {
      const runtime = await startFrameRuntime((nth) =>
        nth < 8 ? { begun: (_id, socket) => void socket.write(mutated()) } : wellBehaved,
      )
      closers.push(() => runtime.close())
      const machine = await startServerFixture(runtime.endpoint, { livenessMs: 100 })
      closers.push(() => machine.close())
      const session = await openSession(machine.socketPath)
      closers.push(() => session.destroy())
      for (let i = 0; i < 1000 && runtime.accepted <= 8; i++)
        assert.ok(hasEnded(await rawCall(session, path, empty, { 'grpc-timeout': '10m' })))
      await assertOneGoodConnection(machine, () => rawCall(session, path, empty, { 'grpc-timeout': '5S' }))
    }
    await Promise.all(Array.from({ length: 24 }, many))
  })
})

describe('a runtime that', () => {
  test('says nothing at all: the call ends at its deadline, the connection is given up', async () => {
    const { machine, call } = await startMachine({ greet: (socket) => void socket.pause() })
    assert.equal(statusIn(await call()), deadlineExceeded)
    await assertOneGoodConnection(machine, call)
  })

  test('takes no calls (no streams at once): the call ends at its deadline, later ones get a new connection', async () => {
    const { machine, call } = await startMachine({
      greet: (socket) => void socket.write(settingsFrame([3, 0])),
    })
    await call()
    assert.equal(statusIn(await call()), '0')
    await assertOneGoodConnection(machine, call)
  })

  test('gives no window: the upload waits, the call ends at its deadline', async () => {
    const { machine, session, call } = await startMachine({
      greet: (socket) => void socket.write(settingsFrame([4, 0])),
    })
    const answer = await rawCall(session, path, frame(Buffer.alloc(1024 * 1024)), { 'grpc-timeout': '50m' })
    assert.equal(statusIn(answer), deadlineExceeded)
    await assertOneGoodConnection(machine, call)
  })

  test('says goodbye with an error in the middle: UNAVAILABLE at once', async () => {
    const goaway = frameOf(frameType.goaway, 0, 0, Buffer.from([0, 0, 0, 1, 0, 0, 0, 11]))
    const { machine, call } = await startMachine({ begun: (_id, socket) => void socket.write(goaway) })
    assert.equal(statusIn(await call('20S')), unavailable)
    await assertOneGoodConnection(machine, call)
  })

  test('says goodbye before the first call of each connection: the call ends, and later ones work', async () => {
    const goaway = frameOf(frameType.goaway, 0, 0, Buffer.alloc(8))
    const greet = (socket: Socket): void => void socket.write(Buffer.concat([settingsFrame(), goaway]))
    const { machine, call } = await startMachine({ greet }, { greet }, { greet })
    assert.ok(hasEnded(await call('20S')))
    await assertOneGoodConnection(machine, () => call('20S'))
  })

  /** A call without a deadline, which `begun` answers with headers at most, and 50 ms later one with a deadline. */
  async function callBesideEndless(begun: NonNullable<Conversation['begun']>) {
    const { machine, session, call } = await startMachine({ begun })
    const endless = session.request(requestHeaders(path))
    const ended = readRaw(endless)
    endless.end(empty)
    await sleep(50)
    const beside = await call()
    assert.equal(statusIn(await ended), unavailable)
    await assertOneGoodConnection(machine, call)
    return beside
  }

  test('does not answer a ping after a call that passed its deadline: calls without a deadline end too', async () => {
    const beside = await callBesideEndless((id, socket) => {
      if (id === 1) socket.write(headers(1))
    })
    assert.equal(statusIn(beside), deadlineExceeded)
  })

  test('says a frame that is too large: calls without a deadline end too', async () => {
    // On Node 20 nghttp2 hears nothing more after it, and Node does not tell; later ones end the connection.
    const deafening = frameOf(frameType.data, 0, 1, Buffer.alloc(20_000))
    const beside = await callBesideEndless((id, socket) => {
      if (id > 1) return
      socket.write(headers(1))
      setTimeout(() => socket.write(deafening), 20)
    })
    assert.ok(hasEnded(beside))
  })

  test('answers the ping: a call without a deadline goes on after another has passed its own', async () => {
    const { session, call } = await startMachine({
      greet: (socket) => {
        socket.write(settingsFrame())
        socket.on('data', (bytes: Buffer) => {
          for (let at = 0; at + 17 <= bytes.length; at++)
            if (bytes.readUIntBE(at, 5) === 0x00_0008_06_00)
              socket.write(frameOf(frameType.ping, flag.ack, 0, bytes.subarray(at + 9, at + 17)))
        })
      },
      begun: (id, socket) => {
        if (id === 1) setTimeout(() => socket.write(answerFrames(1, 'grpc-status', '0')), 1200)
      },
    })
    const slow = rawCall(session, path, empty)
    assert.equal(statusIn(await call()), deadlineExceeded)
    assert.equal(statusIn(await slow), '0')
  })
})

describe('the process of the server, with a runtime that', () => {
  let bundle: Bundle | undefined
  beforeAll(async () => {
    bundle = await bundleCommand()
  })
  afterAll(async () => {
    await bundle?.remove()
  })

  const mostGrowthMiB = 64

  async function startProcess(conversation: Conversation) {
    const runtime = await startFrameRuntime(() => conversation)
    closers.push(() => runtime.close())
    const server: ServerProcess = await startServerProcess(bundle?.main ?? '', runtime.endpoint)
    closers.push(() => server.close())
    const session = await openSession(server.socketPath)
    closers.push(() => session.destroy())
    const before = server.residentMiB()
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, server.residentMiB())
    }, 20)
    closers.push(() => clearInterval(watch))
    return {
      session,
      assertSmall() {
        assert.ok(peak - before < mostGrowthMiB, `from ${before.toFixed(0)} to ${peak.toFixed(0)} MiB`)
      },
    }
  }

  /** Without end, as fast as they are taken. */
  function flood(socket: Socket, bytes: Buffer): void {
    const more = (): void => {
      while (!socket.destroyed && socket.write(bytes));
      if (!socket.destroyed) socket.once('drain', more)
    }
    more()
  }

  const repeated = (bytes: Buffer): Buffer =>
    Buffer.concat(Array<Buffer>(Math.ceil(65_536 / bytes.length)).fill(bytes))

  const ping = frameOf(frameType.ping, 0, 0, Buffer.alloc(8, 'p'))
  const floods: readonly { readonly what: string; readonly frame: Buffer; readonly reads: boolean }[] = [
    { what: 'pings and does not read', frame: ping, reads: false },
    { what: 'pings', frame: ping, reads: true },
    { what: 'settings and does not read', frame: settingsFrame([4, 65_535]), reads: false },
    { what: 'empty data of a call', frame: data(1, ''), reads: true },
    { what: 'frames of an unknown type', frame: frameOf(0x77, 0, 0, Buffer.alloc(100)), reads: true },
    { what: 'resets of calls that nobody made', frame: numberFrame(frameType.reset, 1, 8), reads: true },
  ]
  for (const { what, frame: bytes, reads } of floods)
    test(`floods it with ${what}: the deadline of a call holds`, async () => {
      const { session, assertSmall } = await startProcess({
        greet(socket) {
          if (!reads) socket.pause()
          socket.write(settingsFrame())
          flood(socket, repeated(bytes))
        },
      })
      const begun = performance.now()
      const answer = await rawCall(session, path, empty, { 'grpc-timeout': '1S' })
      const took = performance.now() - begun
      assert.ok(hasEnded(answer))
      assert.ok(took < 3000, `${took.toFixed(0)} ms`)
      assertSmall()
    })

  /** Fields that enter the table of the connection, in one block with its table size. */
  const blockWith = (tableSize: Buffer, nth: number): Buffer => {
    const value = Buffer.from(fieldBlock('x', `${nth}`.padEnd(60_000, 'v')))
    // A literal with incremental indexing in place of one without.
    value[0] = 0x40
    return Buffer.concat([tableSize, ok, value, fieldBlock('grpc-status', '0')])
  }
  const tableSizes: readonly (readonly [string, Buffer])[] = [
    ['a number that never ends', Buffer.concat([Buffer.of(0x3f), Buffer.alloc(150, 0x80), Buffer.of(0)])],
    ['a number of nine bytes', Buffer.concat([Buffer.of(0x3f), Buffer.alloc(8, 0xff), Buffer.of(0x7f)])],
    ['no number at all', Buffer.alloc(0)],
    ['thousands of them', Buffer.alloc(10_000, 0x20)],
  ]
  for (const [what, tableSize] of tableSizes)
    test(`sends a table size of ${what} with large fields: its memory stays as it was`, async () => {
      let nth = 0
      const { session, assertSmall } = await startProcess({
        begun: (id, socket) => void socket.write(headerFrames(id, blockWith(tableSize, nth++), true)),
      })
      const calls = Array.from({ length: 300 }, () => rawCall(session, path, empty, { 'grpc-timeout': '1S' }))
      for (const answer of await Promise.all(calls)) assert.ok(hasEnded(answer))
      assertSmall()
    })
})
