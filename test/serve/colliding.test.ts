// Two connections from one source port, to two addresses of this node: each is counted, and each can give way. Strangers who
// open such pairs neither hold more connections than the limit nor keep a valid caller out.

import { readdirSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ask, forEachLimited } from './client.js'
import { createAuthority, createLeaf, type Pair } from './pki.js'
import { type Served, settingsIn, startStandIn, temporaryDirectory } from './start.js'

const directory = temporaryDirectory()
const sockets = new Set<Socket>()
let served: Served
let client: Pair

beforeAll(async () => {
  const ca = await createAuthority('ca')
  client = await createLeaf(ca, { user: 'valid', groups: ['system:masters'] })
  const clientCAFile = join(directory.path, 'ca.crt')
  writeFileSync(clientCAFile, ca.certificate)
  // Pairs need two addresses of one listener: 127.0.0.1 and 127.0.0.2 are there on every Linux.
  served = await startStandIn({
    settings: settingsIn(directory.path, 'kubelet', { address: '0.0.0.0', clientCAFile }),
  })
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})
afterAll(async () => {
  await served.stop()
  directory.remove()
})

const keep = <S extends Socket>(socket: S): S => {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sockets.delete(socket))
  return socket
}

/** `localPort` 0: any. Undefined: the connection was cut at once. */
const openTcp = (host: string, localPort: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = keep(connect({ host, port: served.port, localAddress: '127.0.0.1', localPort }))
    socket.once('connect', () => resolve(socket))
    socket.once('close', () => resolve(undefined))
  })

/** From the source port of `first`, to the other address. */
const openTwin = async (first: Socket | undefined): Promise<Socket | undefined> => {
  const twin = await openTcp('127.0.0.2', first?.localPort ?? 0)
  expect(twin?.localPort).toBe(first?.localPort)
  return twin
}

const secured = (socket: Socket): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const secure = keep(connectTls({ socket, rejectUnauthorized: false }))
    secure.once('secureConnect', () => resolve(secure))
    secure.once('error', reject)
  })

const status = (): Promise<number | string> =>
  ask({ port: served.port, path: '/healthz', certificate: client, timeoutMs: 5000 }).then(
    (told) => told.status,
    (e: unknown) => String(e),
  )

const times = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i)

test('unfinished headers of connections that share their source port do not lock a valid caller out', async () => {
  const line = `X-Padding: ${'x'.repeat(8000)}\r\n`
  const unfinished = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n${line.repeat(112)}` // 0.9 MiB
  const strangers: { readonly first: Socket; readonly secure: TLSSocket }[] = []
  await forEachLimited(times(22), 4, async () => {
    const first = await openTcp('127.0.0.1', 0)
    if (first === undefined) throw new Error('not connected')
    strangers.push({ first, secure: await secured(first) })
  })
  // The twins come when the server's side of each handshake is done too.
  await sleep(200)
  for (const { first } of strangers) await openTwin(first)
  await sleep(200)
  await Promise.all(
    strangers.map(({ secure }) => new Promise((resolve) => secure.write(unfinished, resolve))),
  )
  await sleep(200)
  const answers = []
  for (const _ of times(6)) answers.push(await status())
  expect(answers).toEqual(times(6).map(() => 200))
})

test('connections that share their source port count each: 1,024 is the limit for them too', async () => {
  const openFiles = (): number => readdirSync(`/proc/${served.pid}/fd`).length
  const before = openFiles()
  await forEachLimited(times(1250), 20, async () => {
    await openTwin(await openTcp('127.0.0.1', 0))
  })
  // Well before the server gives up on handshakes that never come.
  await expect.poll(openFiles, { timeout: 3000 }).toBeLessThanOrEqual(before + 1024)
  expect(await status()).toBe(200)
})
