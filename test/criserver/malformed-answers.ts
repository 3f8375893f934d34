// What a runtime may say in place of an answer to its first call: each breaks a rule of HTTP/2 (RFC 9113), or asks for more than fits.
import { fieldBlock, flag, frameOf, frameType, headerFrames, numberFrame, settingsFrame } from './frames.js'

export const ok = fieldBlock(':status', '200')
export const headers = (stream: number, isLast = false): Buffer => headerFrames(stream, ok, isLast)
export const data = (stream: number, text: string, flags = 0): Buffer =>
  frameOf(frameType.data, flags, stream, Buffer.from(text))
const big = 'v'.repeat(30_000)

export const malformedAnswers: readonly (readonly [string, readonly Buffer[]])[] = [
  ['a frame larger than agreed', [frameOf(frameType.data, 0, 1, Buffer.alloc(20_000))]],
  ['data of a call that nobody made', [data(5, 'x')]],
  ['data of the connection', [data(0, 'x')]],
  ['data before headers', [data(1, 'x')]],
  ['more padding than bytes', [headers(1), frameOf(0, flag.padded, 1, Uint8Array.of(9, 1, 2))]],
  ['headers of the connection', [headers(0)]],
  ['headers padded beyond their end', [frameOf(1, flag.padded | 4, 1, Uint8Array.of(9, 1))]],
  ['an unreadable header block', [frameOf(1, flag.endHeaders, 1, Uint8Array.of(0xff, 0xff, 0xff))]],
  ['another frame inside a header block', [frameOf(1, 0, 1, ok), settingsFrame()]],
  ['data inside a header block', [headers(1), frameOf(1, 0, 1, ok), data(1, 'x')]],
  ['CONTINUATION of nothing', [frameOf(9, 4, 1, ok)]],
  ['a header block without end', [frameOf(1, 0, 1, ok), ...Array<Buffer>(200).fill(frameOf(9, 0, 1))]],
  ['PUSH_PROMISE', [frameOf(5, 4, 1, new Uint8Array(8))]],
  ['SETTINGS on a stream', [frameOf(4, 0, 1)]],
  ['SETTINGS of a wrong length', [frameOf(4, 0, 0, new Uint8Array(5))]],
  ['a window larger than there are numbers', [settingsFrame([4, 0x8000_0000])]],
  ['PING of a wrong length', [frameOf(6, 0, 0, new Uint8Array(7))]],
  ['GOAWAY of a wrong length', [frameOf(7, 0, 0, new Uint8Array(7))]],
  ['RST_STREAM of a wrong length', [frameOf(3, 0, 1, new Uint8Array(3))]],
  ['WINDOW_UPDATE of nothing', [numberFrame(8, 0, 0)]],
  ['a window that overflows', [numberFrame(8, 0, 0x7fff_ffff)]],
  ['a window of one call that overflows', [numberFrame(8, 1, 0x7fff_ffff)]],
  ['more than the window', [headers(1), ...Array<Buffer>(1100).fill(data(1, 'x'.repeat(16_000)))]],
  ['trailers that do not end the call', [headers(1), headers(1)]],
  ['a status text of 200 KiB', [headers(1), headerFrames(1, fieldBlock('x', 'm'.repeat(200_000)), true)]],
  [
    '150 KB of fields',
    [headerFrames(1, fieldBlock(':status', '200', 'a', big, 'b', big, 'c', big, 'd', big, 'e', big), true)],
  ],
  [
    '5,000 fields',
    [headerFrames(1, Buffer.concat([ok, ...Array<Buffer>(5000).fill(fieldBlock('x', 'v'))]), true)],
  ],
  [
    '20,000 informational answers',
    Array<Buffer>(20_000).fill(headerFrames(1, fieldBlock(':status', '103'), false)),
  ],
]
