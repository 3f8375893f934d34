// A peer that breaks the rules, byte by byte: the connection is given up with the code that the RFC names, every call on it ends,
// and nothing is thrown at anybody else.

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RuntimeConnection } from '../../src/adapters/cri/h2-connection.js'
import {
  flag,
  frameType,
  headerFrames,
  newFrame,
  numberFrame,
  settingsFrame,
} from '../../src/adapters/cri/h2-frames.js'
import { encodeFields } from '../../src/core/hpack/encode.js'
import { createRandom } from '../fuzz/random.js'

interface Bed {
  readonly connection: RuntimeConnection
  /** What we have sent, after the preface. */
  readonly sent: () => Buffer
  readonly endings: (number | 'whole' | 'lost')[]
  readonly body: () => Buffer
}

/** A socket whose other end is this test. */
function bed(calls = 2): Bed {
  const out: Buffer[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      out.push(Buffer.from(chunk))
      done()
    },
  }) as Socket
  socket.destroySoon = () => socket.destroy()
  const connection = new RuntimeConnection(socket, {
    streamWindowBytes: 100_000,
    connectionWindowBytes: 1_000_000,
    onSettled: () => {},
    onGoaway: () => {},
    onClose: () => {},
  })
  const endings: Bed['endings'] = []
  const parts: Buffer[] = []
  for (let i = 0; i < calls; i++) {
    const stream = connection.request([':method', 'POST', ':path', '/x'], undefined, true, () => {})
    stream.attach({
      headers: (_list, isLast) => void (isLast && endings.push('whole')),
      data: (portion) => void parts.push(portion.copy()),
      end: () => void endings.push('whole'),
      broken: (code) => void endings.push(code ?? 'lost'),
    })
  }
  return { connection, sent: () => Buffer.concat(out), endings, body: () => Buffer.concat(parts) }
}

const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
  const made = newFrame(payload.length, type, flags, stream)
  made.set(payload, 9)
  return made
}
const ok = encodeFields([':status', '200'])
const headers = (stream: number, isLast = false): Buffer => Buffer.concat(headerFrames(stream, ok, isLast))
const data = (stream: number, text: string, flags = 0): Buffer =>
  frame(frameType.data, flags, stream, Buffer.from(text))

/** The code of the last GOAWAY in what was sent. */
function goodbyeIn(sent: Buffer): number | undefined {
  let code: number | undefined
  for (let at = 24; at + 9 <= sent.length; at += 9 + sent.readUIntBE(at, 3))
    if (sent[at + 3] === frameType.goaway) code = sent.readUInt32BE(at + 13)
  return code
}

const protocol = 1
const flowControl = 3
const frameSize = 6
const compression = 9
const calm = 11

test.each<[string, number, Buffer[]]>([
  ['a frame larger than agreed', frameSize, [newFrame(20_000, frameType.data, 0, 1)]],
  ['data of a call that nobody made', protocol, [data(5, 'x')]],
  ['data of the connection', protocol, [data(0, 'x')]],
  ['data before headers', protocol, [data(1, 'x')]],
  ['the end of a call before its headers', protocol, [headers(1), data(3, 'x', flag.endStream)]],
  ['more padding than bytes', protocol, [headers(1), frame(0, flag.padded, 1, Uint8Array.of(9, 1, 2))]],
  ['headers of the connection', protocol, [headers(0)]],
  ['headers padded beyond their end', protocol, [frame(1, flag.padded | 4, 1, Uint8Array.of(9, 1))]],
  [
    'an unreadable header block',
    compression,
    [frame(1, flag.endHeaders, 1, Uint8Array.of(0xff, 0xff, 0xff))],
  ],
  ['another frame inside a header block', protocol, [frame(1, 0, 1, ok), settingsFrame([])]],
  ['data inside a header block', protocol, [headers(1), frame(1, 0, 3, ok), data(1, 'x')]],
  ['CONTINUATION of nothing', protocol, [frame(9, 4, 1, ok)]],
  [
    'a header block without end',
    calm,
    [frame(1, 0, 1, ok), ...Array(80).fill(frame(9, 0, 1, new Uint8Array()))],
  ],
  ['PUSH_PROMISE', protocol, [frame(5, 4, 1, new Uint8Array(8))]],
  ['SETTINGS on a stream', protocol, [frame(4, 0, 1, new Uint8Array())]],
  ['SETTINGS of a wrong length', frameSize, [frame(4, 0, 0, new Uint8Array(5))]],
  ['a window larger than there are numbers', flowControl, [settingsFrame([[4, 0x8000_0000]])]],
  ['PING of a wrong length', frameSize, [frame(6, 0, 0, new Uint8Array(7))]],
  ['GOAWAY of a wrong length', frameSize, [frame(7, 0, 0, new Uint8Array(7))]],
  ['RST_STREAM of a wrong length', frameSize, [frame(3, 0, 1, new Uint8Array(3))]],
  ['WINDOW_UPDATE of nothing', protocol, [numberFrame(8, 0, 0)]],
  ['a window that overflows', flowControl, [numberFrame(8, 0, 0x7fff_ffff)]],
  [
    'more than the window',
    flowControl,
    [headers(1), ...Array.from({ length: 7 }, () => data(1, 'x'.repeat(16_000)))],
  ],
])('%s', async (_what, code, bytes) => {
  const { connection, sent, endings } = bed()
  connection.read(Buffer.concat(bytes))
  await turn()
  expect(goodbyeIn(sent())).toBe(code)
  expect(connection.isDestroyed).toBe(true)
  expect(endings.filter((e) => e !== 'whole')).toEqual(
    ['lost', 'lost'].slice(endings.includes('whole') ? 1 : 0),
  )
})

test.each<[string, Buffer]>([
  ['trailers that do not end the call', Buffer.concat([headers(1), headers(1)])],
  ['a window of one call that overflows', numberFrame(8, 1, 0x7fff_ffff)],
])('%s: only this call is reset', async (_what, bytes) => {
  const { connection, endings } = bed()
  connection.read(bytes)
  await turn()
  expect(connection.isDestroyed).toBe(false)
  expect(endings).toHaveLength(1)
  connection.read(headers(3, true))
  expect(endings.at(-1)).toBe('whole')
})

test('frames that nobody knows, priorities, and words about calls that have ended, are passed over', async () => {
  const { connection, endings, body } = bed()
  const strange = [frame(0x77, 0xff, 1, Buffer.alloc(100)), frame(2, 0, 1, Buffer.alloc(5))]
  connection.read(
    Buffer.concat([...strange, headers(1), data(1, 'a'), ...strange, data(1, 'b', flag.endStream)]),
  )
  connection.read(
    Buffer.concat([data(1, 'late'), numberFrame(8, 1, 5), numberFrame(3, 1, 8), headers(1, true)]),
  )
  await turn()
  expect([connection.isDestroyed, endings, body().toString()]).toEqual([false, ['whole'], 'ab'])
})

test('20,000 mutated conversations: each call ends at most once, and nothing is thrown', async () => {
  const random = createRandom(7)
  const good = Buffer.concat([
    ...[settingsFrame([[3, 100]]), headers(1), data(1, 'hello'), headers(3), data(3, 'x'.repeat(300))],
    ...[numberFrame(8, 0, 1000), frame(6, 0, 0, Buffer.alloc(8)), headers(1, true), headers(3, true)],
  ])
  let faults = 0
  for (let i = 0; i < 20_000; i++) {
    const { connection, endings } = bed()
    const bytes = Buffer.from(good)
    for (let k = 1 + random.below(3); k > 0; k--)
      bytes[random.below(bytes.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)])
    const cut = random.below(bytes.length)
    connection.read(bytes.subarray(0, cut))
    connection.read(bytes.subarray(cut))
    if (connection.isDestroyed) faults += 1
    connection.destroy()
    expect(endings.length).toBe(2)
    if (i % 1000 === 0) await turn()
  }
  expect(faults).toBeGreaterThan(1000)
})
