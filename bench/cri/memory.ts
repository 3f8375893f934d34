// What the server holds while 200 callers fetch 16 MiB each, 200 event streams are open and one reader has stopped.

import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { Server } from './processes.js'

export const callers = 200

export interface Growth {
  readonly beforeMiB: number
  readonly peakMiB: number
  readonly fetchedMiB: number
}

/** A caller of its own that takes headers and then nothing more. */
async function stopReading(socketPath: string): Promise<() => void> {
  const socket = connectSocket(socketPath)
  await once(socket, 'connect')
  const session = connect('http://localhost', {
    createConnection: () => socket,
    settings: { initialWindowSize: 64 * 1024 * 1024 },
  })
  session.on('error', () => {})
  const stream = session.request({
    ':method': 'POST',
    ':path': '/runtime.v1.RuntimeService/ExecSync',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => {})
  stream.end(Buffer.alloc(5))
  await once(stream, 'response')
  socket.pause()
  return () => session.destroy()
}

export async function measureMemory(server: Server, signal: AbortSignal): Promise<Growth> {
  const clients = Array.from({ length: 8 }, () =>
    createCriClient(server.endpoint, { maxReceiveBytes: 64 * 1024 * 1024 }),
  )
  const some = (i: number): (typeof clients)[number] => clients[i % clients.length] ?? assertClient()
  await Promise.all(clients.map((c) => c.runtime.version({})))
  await sleep(500)
  const beforeMiB = server.residentMiB()
  let peakMiB = beforeMiB
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, server.residentMiB())
  }, 50)
  const stop = new AbortController()
  const streams = Promise.allSettled(
    Array.from({ length: callers }, async (_, i) => {
      const options = { timeoutMs: Number.POSITIVE_INFINITY, signal: stop.signal }
      for await (const _event of some(i).runtime.getContainerEvents({}, options)) signal.throwIfAborted()
    }),
  )
  const release = await stopReading(server.endpoint.replace('unix://', ''))
  let fetched = 0
  try {
    await Promise.all(
      Array.from({ length: callers }, async (_, i) => {
        const { stdout } = await some(i).runtime.execSync(
          { containerId: 'x', cmd: ['y'] },
          { timeoutMs: 300_000, signal },
        )
        fetched += stdout.length
      }),
    )
  } finally {
    clearInterval(watch)
    stop.abort()
    await streams
    release()
    for (const c of clients) c.close()
  }
  return { beforeMiB, peakMiB, fetchedMiB: fetched / 1024 / 1024 }
}

function assertClient(): never {
  throw new Error('there are no clients')
}
