// What is borrowed for an answer comes back, whatever becomes of the caller.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, createServer, type Http2Server } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Reply } from './server-reply.js'
import { responseHeaders } from './server-status.js'

let directory: string
let server: Http2Server
let session: ClientHttp2Session
const replies: Reply[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-reply-'))
  replies.length = 0
  server = createServer()
  server.on('stream', (stream) => {
    const reply = new Reply(stream)
    reply.open(responseHeaders)
    replies.push(reply)
  })
  server.listen(join(directory, 's'))
  await once(server, 'listening')
  const socket = connectSocket(join(directory, 's'))
  await once(socket, 'connect')
  session = connect('http://localhost', { createConnection: () => socket })
  session.on('error', () => {})
})
afterEach(async () => {
  session.destroy()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

async function begin() {
  const caller = session.request({ ':method': 'POST', ':path': '/x' }, { endStream: true })
  caller.on('error', () => {})
  await once(caller, 'response')
  const reply = replies.at(-1)
  if (reply === undefined) throw new Error('the call has not arrived')
  return { caller, reply }
}

/** More than a caller's window of 64 KiB. */
const large = Buffer.alloc(256 * 1024, 'x')
const lend = () => ({ bytes: large, giveBack: vi.fn<(isIntact: boolean) => void>() })

describe('borrowed bytes', () => {
  test('come back whole when the caller has taken them, and not before', async () => {
    const { caller, reply } = await begin()
    const borrowed = lend()
    reply.writeBorrowed(borrowed)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(borrowed.giveBack).not.toHaveBeenCalled()
    const parts: Buffer[] = []
    caller.on('data', (part: Buffer) => parts.push(part))
    await expect.poll(() => borrowed.giveBack.mock.calls).toEqual([[true]])
    await expect.poll(() => Buffer.concat(parts).equals(large)).toBe(true)
    expect(reply.bytes).toBe(large.length)
  })

  test('come back as not to be written over when the caller leaves, those that wait behind them too', async () => {
    const { caller, reply } = await begin()
    const all = [lend(), lend(), lend()]
    for (const borrowed of all) reply.writeBorrowed(borrowed)
    caller.close(8)
    await reply.closed
    for (const { giveBack } of all) expect(giveBack.mock.calls[0]).toEqual([false])
  })

  test('come back when we reset the call, or the connection breaks', async () => {
    const reset = await begin()
    const lost = await begin()
    const [a, b] = [lend(), lend()]
    reset.reply.writeBorrowed(a)
    lost.reply.writeBorrowed(b)
    reset.reply.reset(2)
    await reset.reply.closed
    expect(a.giveBack.mock.calls[0]).toEqual([false])
    session.destroy()
    await lost.reply.closed
    expect(b.giveBack.mock.calls[0]).toEqual([false])
  })

  test('of a caller that has gone are not written, and come back at once', async () => {
    const { caller, reply } = await begin()
    caller.close(8)
    await reply.closed
    const borrowed = lend()
    expect(reply.writeBorrowed(borrowed)).toBe(true)
    expect(borrowed.giveBack.mock.calls).toEqual([[true]])
    expect(reply.bytes).toBe(0)
  })
})
