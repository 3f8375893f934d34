import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { createMux, type Mux } from './mux.js'

const servers: Server[] = []
const muxes: Mux[] = []
afterEach(() => {
  for (const mux of muxes.splice(0)) mux.close()
  for (const server of servers.splice(0)) server.close()
})

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection)
  servers.push(server)
  server.on('connection', (socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Two muxes on one line; connecting to the port reaches the handler at the far end. */
async function tunnel(handler: (socket: Socket) => void): Promise<number> {
  const target = await listen(handler)
  const [there, back] = [new PassThrough(), new PassThrough()]
  const near = createMux({ in: back, out: there }, () => {
    throw new Error('only one side opens')
  })
  const far = createMux({ in: there, out: back }, () =>
    connect({ port: target, host: '127.0.0.1', allowHalfOpen: true }),
  )
  muxes.push(near, far)
  return listen((socket) => near.carry(socket))
}

async function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

const open = (port: number): Socket => connect({ port, host: '127.0.0.1', allowHalfOpen: true })

test('bytes come back as they went, many connections at once', async () => {
  const port = await tunnel((socket) => socket.pipe(socket))
  const bodies = Array.from({ length: 20 }, (_, i) => Buffer.alloc(200_000 + i, i))
  const answers = await Promise.all(
    bodies.map(async (body) => {
      const socket = open(port)
      socket.end(body)
      return readAll(socket)
    }),
  )
  for (const [i, body] of bodies.entries()) expect(answers[i]?.equals(body)).toBe(true)
})

test('a reader that does not read holds up nobody else', async () => {
  const port = await tunnel((socket) => {
    socket.once('data', (first) => {
      if (first.toString() === 'much') socket.write(Buffer.alloc(4 * 1024 * 1024))
      else socket.end('quick')
    })
  })
  const slow = open(port)
  slow.write('much')
  slow.pause()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const quick = open(port)
  quick.write('hi')
  expect((await readAll(quick)).toString()).toBe('quick')
  slow.destroy()
})

test('a far end that refuses ends the near connection', async () => {
  const port = await tunnel((socket) => socket.destroy())
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {}).resume()
  await once(socket, 'close')
})
