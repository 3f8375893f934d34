// One answer, played on one HTTP/2 stream in gRPC's framing. Back-pressure is kept: a huge answer waits for
// its reader.

import { once } from 'node:events'
import type { ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { grpcCodeNames } from '../../core/cri/grpc-codes.js'
import type { Said, StatusSaid } from './answers.js'

export interface Stage {
  readonly stream: ServerHttp2Stream
  readonly signal: AbortSignal
  readonly encode: (value: object) => Uint8Array
  /** Ends the transport under the stream without a word. */
  readonly cut: () => void
}

export function frame(body: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(5 + body.length)
  framed[0] = 0
  framed.writeUInt32BE(body.length, 1)
  framed.set(body, 5)
  return framed
}

/** gRPC's percent-encoding: everything but printable ASCII, and the sign itself. */
const encodeText = (text: string): string =>
  [...Buffer.from(text)]
    .map((b) =>
      b >= 0x20 && b <= 0x7e && b !== 0x25 ? String.fromCharCode(b) : `%${b.toString(16).padStart(2, '0')}`,
    )
    .join('')

const statusHeaders = (s: StatusSaid): Record<string, string> => ({
  'grpc-status': String(grpcCodeNames.indexOf(s.code)),
  ...(s.message === undefined ? {} : { 'grpc-message': encodeText(s.message) }),
  ...(s.statusDetails === undefined
    ? {}
    : { 'grpc-status-details-bin': Buffer.from(s.statusDetails).toString('base64') }),
})

const responseHeaders = { ':status': 200, 'content-type': 'application/grpc' }

function open({ stream }: Stage, status: StatusSaid = { code: 'OK' }): void {
  stream.respond(responseHeaders, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(statusHeaders(status)))
}

/** A large answer waits for its reader piece by piece: Node refuses new streams on a connection that holds too much. */
const pieceBytes = 256 * 1024

async function write({ stream, signal }: Stage, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length || at === 0; at += pieceBytes)
    if (!stream.destroyed && !stream.write(bytes.subarray(at, at + pieceBytes)))
      await once(stream, 'drain', { signal })
}

/** The bytes are handed to the socket first, so that the peer really sees a part of them. */
async function writeThenCut(stage: Stage, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((done) => {
    stage.stream.write(bytes, () => done())
  })
  await sleep(5)
  stage.cut()
}

async function playValues(stage: Stage, said: Extract<Said<unknown>, { values: unknown }>): Promise<void> {
  const end = said.ending
  open(stage, typeof end === 'object' ? end : { code: 'OK' })
  for await (const value of said.values) {
    if (stage.signal.aborted) return
    await write(stage, frame(stage.encode(value ?? {})))
  }
  if (end === 'hang') return
  if (end === 'drop') return await writeThenCut(stage, Buffer.alloc(0))
  stage.stream.end()
}

export async function play(stage: Stage, said: Said<unknown>): Promise<void> {
  const { stream, signal } = stage
  if (said.delayMs !== undefined) await sleep(said.delayMs, undefined, { signal })
  if (stream.destroyed) return
  if ('values' in said) return await playValues(stage, said)
  if ('code' in said) {
    stream.respond({ ...responseHeaders, ...statusHeaders(said) }, { endStream: true })
    return
  }
  if ('hang' in said) return said.hang === 'after-headers' ? open(stage) : undefined
  if ('reset' in said) return stream.close(said.reset)
  if ('http' in said) {
    stream.respond({ ':status': said.http, 'content-type': 'text/plain' })
    stream.end('not gRPC\n')
    return
  }
  if (!('value' in said) && 'drop' in said && said.drop === 'before-headers') return stage.cut()
  open(stage)
  if ('body' in said) {
    await write(stage, said.body)
    return void stream.end()
  }
  const body = 'bytes' in said ? said.bytes : 'value' in said ? valueBytes(stage, said) : Buffer.alloc(64)
  const framed = frame(body)
  if ('drop' in said) return await writeThenCut(stage, framed.subarray(0, Math.ceil(framed.length / 2)))
  await write(stage, framed)
  stream.end()
}

function valueBytes(stage: Stage, said: Extract<Said<unknown>, { value: unknown }>): Uint8Array {
  const body = stage.encode(said.value ?? {})
  return said.appendBytes === undefined ? body : Buffer.concat([body, said.appendBytes])
}
