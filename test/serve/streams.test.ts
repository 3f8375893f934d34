// Streams through the real server: an upgrade is joined with another server's, byte by byte, within its limits.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { relayUpgrade } from '../../src/adapters/http/relay-upgrade.js'
import { type StreamRequest, streams } from '../../src/serve/endpoints/streams.js'
import { ask } from './client.js'
import { type Here, startHere } from './here.js'

type OnUpgrade = (socket: Duplex, req: IncomingMessage) => void
const open: { here: Here; runtime: Server }[] = []
afterEach(async () => {
  for (const { here, runtime } of open.splice(0)) {
    await here.end()
    runtime.closeAllConnections()
    runtime.close()
  }
})

/** The server with streams, and a runtime that answers upgrades with the function. */
async function start(onUpgrade: OnUpgrade, idleMs = 0) {
  const asked: StreamRequest[] = []
  const seen: IncomingMessage[] = []
  const runtime = createServer((_, res) =>
    res.writeHead(403, { 'content-type': 'text/x-reason' }).end('no token'),
  )
  runtime.on('upgrade', (req, socket) => {
    seen.push(req)
    socket.on('error', () => socket.destroy())
    onUpgrade(socket, req)
  })
  await new Promise<void>((resolve) => runtime.listen(0, '127.0.0.1', resolve))
  const { port } = runtime.address() as AddressInfo
  const here = await startHere({
    endpoints: streams({
      open: async (wanted) => {
        asked.push(wanted)
        return { host: '127.0.0.1', port, path: '/exec/TOKEN' }
      },
      relay: relayUpgrade,
      idleMs,
    }),
  })
  open.push({ here, runtime })
  const token = readFileSync(join(here.directory, 'token'), 'utf8').trim()
  const upgrade = (path: string, method = 'POST', headers: Record<string, string> = {}): Promise<Duplex> =>
    new Promise((resolve, reject) => {
      const req = request({
        port: here.port,
        path,
        method,
        rejectUnauthorized: false,
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          connection: 'Upgrade',
          upgrade: 'SPDY/3.1',
          'content-length': '0',
          ...headers,
        },
      })
      req.on('upgrade', (res, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        if (res.headers['x-stream-protocol-version'] !== 'v4') reject(new Error('another protocol'))
        resolve(socket)
      })
      req.on('response', (res) => reject(new Error(`answered with ${res.statusCode}`)))
      req.on('error', reject)
      req.end()
    })
  return { here, token, upgrade, asked, seen }
}

const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\n'
const echo: OnUpgrade = (socket) => {
  socket.write(switching)
  socket.pipe(socket)
}

async function readSome(socket: Duplex, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let length = 0; length < bytes; ) {
    const part = await new Promise<Buffer>((resolve) => {
      socket.once('data', (data: Buffer) => {
        socket.pause()
        resolve(data)
      })
      socket.resume()
    })
    parts.push(part)
    length += part.length
  }
  return Buffer.concat(parts)
}
const closed = (socket: Duplex): Promise<void> =>
  new Promise((resolve) => {
    socket.resume()
    socket.once('close', resolve)
  })

test('bytes go both ways, the request keeps its headers, and our own credentials stay here', async () => {
  const { upgrade, asked, seen } = await start(echo)
  const path = '/exec/shop/web/u-1/app?command=sh&command=-c&command=echo+%241&input=1&output=1&error=1'
  const socket = await upgrade(path, 'POST', { 'x-stream-protocol-version': 'v4.channel.k8s.io' })
  socket.write('hello')
  expect((await readSome(socket, 5)).toString()).toBe('hello')
  expect(asked).toEqual([
    {
      kind: 'exec',
      namespace: 'shop',
      pod: 'web',
      uid: 'u-1',
      container: 'app',
      command: ['sh', '-c', 'echo $1'],
      stdin: true,
      stdout: true,
      stderr: true,
      tty: false,
    },
  ])
  expect(seen[0]?.url).toBe('/exec/TOKEN')
  expect(seen[0]?.headers['x-stream-protocol-version']).toBe('v4.channel.k8s.io')
  expect(seen[0]?.headers.authorization).toBeUndefined()
  socket.end()
  await closed(socket)
})

test('what the runtime sends last arrives, however slow the client reads', async () => {
  const size = 8 * 1024 * 1024
  const { upgrade } = await start((socket) => {
    socket.write(switching)
    socket.end(Buffer.alloc(size, 'x'))
  })
  const socket = await upgrade('/attach/shop/web/app?output=1')
  socket.pause()
  await sleep(200)
  expect((await readSome(socket, size)).length).toBe(size)
  await closed(socket)
})

test('a client that stops reading stops the runtime', async () => {
  let sent = 0
  const { upgrade } = await start((socket) => {
    socket.write(switching)
    const more = (): void => {
      while (sent < 512 * 1024 * 1024) {
        sent += 65_536
        if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', more)
      }
    }
    more()
  })
  const socket = await upgrade('/attach/shop/web/app?output=1')
  socket.pause()
  let before = -1
  const isStill = (): boolean => {
    const still = before === sent
    before = sent
    return still
  }
  await expect.poll(isStill, { interval: 300 }).toBe(true)
  expect(sent).toBeLessThan(64 * 1024 * 1024)
  socket.destroy()
})

test('an answer other than 101 is passed on, and the connection ends', async () => {
  const { here, token } = await start((socket) =>
    socket.end('HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nunknown'),
  )
  const told = await ask({
    port: here.port,
    token,
    method: 'POST',
    path: '/portForward/shop/web',
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
  })
  expect(told).toMatchObject({ status: 404, body: 'unknown' })
  expect(told.headers.connection).toBe('close')
})

test('a stream without a byte ends after its idle time; one that is used does not', async () => {
  const { upgrade } = await start(echo, 400)
  const [used, unused] = await Promise.all([upgrade('/portForward/a/b'), upgrade('/portForward/a/b')])
  const end = closed(unused)
  let isOver = false
  void end.then(() => {
    isOver = true
  })
  while (!isOver) {
    used.write('.')
    await readSome(used, 1)
    await sleep(20)
  }
  used.write('still here')
  expect((await readSome(used, 10)).toString()).toBe('still here')
  used.destroy()
})

test('the runtime hears when the client goes', async () => {
  let gone = false
  const { upgrade } = await start((socket) => {
    socket.write(switching)
    socket.resume()
    socket.once('end', () => {
      gone = true
    })
  })
  const socket = await upgrade('/attach/shop/web/app?output=1&input=1')
  socket.destroy()
  await expect.poll(() => gone).toBe(true)
})

test('requests that are no streams, or name nothing, are refused before the runtime is asked', async () => {
  const { here, token, asked } = await start(echo)
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const { status, body } = await ask({ port: here.port, token, path, headers })
    return [status, body.trim()]
  }
  const socket = { connection: 'Upgrade', upgrade: 'websocket' }
  expect(await get('/exec/a/b/c?output=1')).toEqual([
    400,
    expect.stringContaining('Upgrade request required'),
  ])
  expect(await get('/exec/a/b/c?tty=1&error=1', socket)).toEqual([
    400,
    'you must specify at least 1 of stdin, stdout, stderr',
  ])
  expect(await get('/portForward/a/b', socket)).toEqual([400, 'query parameter "port" is required'])
  expect(await get('/portForward/a/b?port=0', socket)).toEqual([400, 'port "0" must be 1 to 65535'])
  expect(asked).toEqual([])
})

test('WebSocket clients name their ports in the query', async () => {
  const { upgrade, asked } = await start(echo)
  const socket = await upgrade('/portForward/a/b?port=80,443&port=8080', 'GET', { upgrade: 'websocket' })
  expect(asked).toMatchObject([{ kind: 'portForward', ports: [80, 443, 8080] }])
  socket.destroy()
})
