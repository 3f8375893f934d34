import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RuntimeCall } from '../connection/connection.js'
import { createUpstream, type Upstream } from './upstream.js'

let directory: string
let server: Http2Server
let upstream: Upstream
const windows: (number | undefined)[] = []
const sessions = new Set<ServerHttp2Session>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-upstream-'))
  windows.length = 0
  sessions.clear()
  server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
    session.on('remoteSettings', (s) => windows.push(s.initialWindowSize))
  })
  server.on('stream', (stream) => void stream.on('error', () => {}))
  server.listen(join(directory, 's'))
  await once(server, 'listening')
  upstream = createUpstream(join(directory, 's'), 1000)
})
afterEach(async () => {
  upstream.close()
  for (const session of sessions) session.destroy()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

const open = async (more: Record<string, string> = {}): Promise<RuntimeCall> =>
  (await upstream.connection()).open({ ':method': 'POST', ':path': '/x', ...more }, true)

test('a doubted connection is closed when its last call has ended, and the next call gets another', async () => {
  for (let i = 0; i < 5; i++) {
    const call = await open()
    call.doubtConnection()
    call.cancel()
  }
  await expect.poll(() => sessions.size).toBe(5)
  await expect.poll(() => upstream.connections).toBe(0)
})

test('a doubted connection whose runtime answers is left to its calls', async () => {
  const [slow, late] = [await open(), await open()]
  late.doubtConnection()
  late.cancel()
  await sleep(1200)
  expect(slow.stream.destroyed).toBe(false)
})

test('a connection that carried many cancelled calls is given up for another', async () => {
  const calls = await Promise.all(Array.from({ length: 400 }, () => open()))
  for (const call of calls) call.cancel()
  await expect.poll(() => upstream.connections).toBe(0)
  await open()
  await expect.poll(() => sessions.size).toBe(2)
})

test('400 calls at once: each may be sent little ahead', async () => {
  const calls = await Promise.all(Array.from({ length: 400 }, () => open()))
  await expect.poll(() => windows.at(-1)).toBe(32_768)
  expect(calls[0]?.aheadBytes).toBe(4096)
})

test('metadata that Node would not send: request.invalid, and the connection stays', async () => {
  await expect(open({ 'bad name': 'x' })).rejects.toThrow(/forward the metadata of the call/)
  await open()
  expect(sessions.size).toBeGreaterThan(0)
  expect(upstream.connections).toBe(1)
})
