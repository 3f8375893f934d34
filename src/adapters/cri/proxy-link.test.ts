import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLink, type Link } from './proxy-link.js'

let directory: string
let server: Http2Server
let link: Link
const windows: (number | undefined)[] = []
const sessions = new Set<ServerHttp2Session>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-link-'))
  windows.length = 0
  server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('remoteSettings', (s) => windows.push(s.initialWindowSize))
  })
  server.on('stream', (stream) => void stream.on('error', () => {}))
  server.listen(join(directory, 's'))
  await once(server, 'listening')
  link = createLink(join(directory, 's'))
})
afterEach(async () => {
  link.close()
  for (const session of sessions) session.destroy()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

test('a connection that is given up without a call on it is closed', async () => {
  for (let i = 0; i < 5; i++) {
    const connection = await link.connection()
    link.begin(connection)
    link.end(connection, false)
    link.retire(connection)
  }
  await expect.poll(() => link.open).toBe(0)
})

test('512 calls that have waited for one connection: each may be sent little ahead', async () => {
  const begin = async (): Promise<void> => {
    const connection = await link.connection()
    link.begin(connection)
    const fields = [':method', 'POST', ':scheme', 'http', ':path', '/x', ':authority', 'localhost']
    connection.request(fields, undefined, true, () => {})
  }
  await Promise.all(Array.from({ length: 512 }, begin))
  await expect.poll(() => windows.at(-1)).toBe(65_536)
  expect(link.aheadBytes(await link.connection())).toBe(8 * 1024)
})
