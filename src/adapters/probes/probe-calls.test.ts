// Probes' calls against real servers on loopback, the hostile ones included: every call ends in its time with bounded memory.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createProbeCalls } from './probe-calls.js'

const calls = createProbeCalls()
const { signal } = new AbortController()
const host = '127.0.0.1'
const open: (Server | Http2Server | TcpServer)[] = []

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  }
})

async function listen(server: Server | Http2Server | TcpServer): Promise<number> {
  open.push(server)
  server.listen(0, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const serve = (handle: RequestListener): Promise<number> => listen(createServer(handle))
const get = (port: number, more: { readonly tls?: boolean; readonly timeoutMs?: number } = {}) =>
  calls.get(
    { host, port, tls: more.tls ?? false, path: '/healthz?a=1', headers: ['User-Agent', 'kube-probe/1.37'] },
    more.timeoutMs ?? 5_000,
    signal,
  )
/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createTcpServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

describe('GET', () => {
  test('sends what it was given and nothing else, on a connection of its own', async () => {
    const seen: unknown[] = []
    const port = await serve((request, response) => {
      seen.push({ url: request.url, headers: request.rawHeaders, method: request.method })
      response.end('fine')
    })
    expect(await get(port)).toEqual({ kind: 'answer', status: 200, location: undefined, body: 'fine' })
    expect(seen).toEqual([
      {
        method: 'GET',
        url: '/healthz?a=1',
        headers: ['User-Agent', 'kube-probe/1.37', 'Host', `${host}:${port}`, 'Connection', 'close'],
      },
    ])
  })

  test('an endless body is read for 10 KiB', async () => {
    let isClosed = false
    const port = await serve((_, response) => {
      const more = (): void => {
        while (!isClosed && response.write('x'.repeat(4096)));
      }
      response.on('drain', more)
      response.on('close', () => {
        isClosed = true
      })
      more()
    })
    const answer = await get(port)
    expect(answer).toMatchObject({ kind: 'answer', status: 200, body: 'x'.repeat(10 * 1024) })
    await expect.poll(() => isClosed).toBe(true)
  })

  test('no answer is a failure in time, in the words of the kubelet', async () => {
    const port = await serve(() => undefined)
    expect(await get(port, { timeoutMs: 50 })).toEqual({
      kind: 'failed',
      why: 'timeout',
      message: `Get "http://${host}:${port}/healthz?a=1": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    })
  })

  test('an answer that begins and does not end is cut off', async () => {
    const port = await serve((_, response) => response.write('half'))
    expect(await get(port, { timeoutMs: 50 })).toMatchObject({ kind: 'cut-off' })
  })

  test('a refused connection, and bytes that are no HTTP', async () => {
    const port = await freePort()
    expect(await get(port)).toEqual({
      kind: 'failed',
      why: 'other',
      message: `Get "http://${host}:${port}/healthz?a=1": dial tcp ${host}:${port}: connect: connection refused`,
    })
    const garbage = await listen(createTcpServer((socket) => socket.end('garbage\r\n\r\n')))
    expect(await get(garbage)).toMatchObject({ kind: 'failed', why: 'other' })
  })

  test('HTTP where TLS was asked for is said to be so', async () => {
    const port = await serve((_, response) => response.end())
    expect(await get(port, { tls: true })).toMatchObject({ kind: 'failed', why: 'plain' })
  })
})

describe('TCP', () => {
  test('a port that listens, and one that does not', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined)))
    expect(await calls.connect({ host, port }, 5_000, signal)).toBeUndefined()
    const closed = await freePort()
    expect(await calls.connect({ host, port: closed }, 5_000, signal)).toBe(
      `dial tcp ${host}:${closed}: connect: connection refused`,
    )
  })

  test('localhost by name', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined)))
    expect(await calls.connect({ host: 'localhost', port }, 5_000, signal)).toBeUndefined()
  })
})

describe('gRPC health', () => {
  const health = (port: number, timeoutMs = 5_000) =>
    calls.health({ host, port }, { service: 'a', userAgent: 'kube-probe/1.37' }, timeoutMs, signal)

  async function serveHealth(answer: {
    readonly status: number | undefined
    readonly code: string
    readonly size?: number
  }): Promise<{ readonly port: number; readonly seen: unknown[] }> {
    const seen: unknown[] = []
    const server = createHttp2Server()
    server.on('stream', (stream, headers) => {
      const parts: Buffer[] = []
      stream.on('error', () => undefined)
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        seen.push([headers[':path'], headers['user-agent'], Buffer.concat(parts).toString('hex')])
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () =>
          stream.sendTrailers({ 'grpc-status': answer.code, 'grpc-message': 'no%20such' }),
        )
        if (answer.size !== undefined) stream.end(Buffer.alloc(answer.size))
        else stream.end(answer.status === undefined ? undefined : Buffer.of(0, 0, 0, 0, 2, 8, answer.status))
      })
    })
    return { port: await listen(server), seen }
  }

  test('the status of the service that was asked for', async () => {
    const { port, seen } = await serveHealth({ status: 1, code: '0' })
    expect(await health(port)).toEqual({ kind: 'status', status: 1 })
    expect(seen).toEqual([['/grpc.health.v1.Health/Check', 'kube-probe/1.37', '00000000030a0161']])
    const other = await serveHealth({ status: 2, code: '0' })
    expect(await health(other.port)).toEqual({ kind: 'status', status: 2 })
  })

  test('a refusal has its code and message', async () => {
    const { port } = await serveHealth({ status: undefined, code: '12' })
    expect(await health(port)).toEqual({ kind: 'refused', code: 12, message: 'no such' })
  })

  test('an answer that is too long or no message', async () => {
    const long = await serveHealth({ status: undefined, code: '0', size: 1_000_000 })
    expect(await health(long.port)).toMatchObject({ kind: 'refused', message: 'the answer is too long' })
    const broken = await serveHealth({ status: undefined, code: '0', size: 20 })
    expect(await health(broken.port)).toMatchObject({ kind: 'refused', code: 13 })
  })

  test('a server that closes the connection at once is one that is not connected', async () => {
    const closing = await listen(createTcpServer((socket) => socket.end()))
    expect(await health(closing)).toMatchObject({ kind: 'not-connected', why: 'other' })
  })

  test('a server that does not speak HTTP/2 is not connected to, within the time', async () => {
    const silent = await listen(createTcpServer((socket) => socket.on('error', () => undefined)))
    expect(await health(silent, 100)).toEqual({
      kind: 'not-connected',
      why: 'timeout',
      message: 'context deadline exceeded',
    })
    expect(await health(await freePort())).toMatchObject({ kind: 'not-connected', why: 'other' })
  })

  test('a service that never answers', async () => {
    const server = createHttp2Server()
    server.on('stream', (stream) => stream.on('error', () => undefined))
    expect(await health(await listen(server), 300)).toEqual({ kind: 'timeout' })
  })
})
