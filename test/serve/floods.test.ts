// Strangers who open everything and finish nothing. A valid client is answered within a second of the server's time all the
// while, and its memory stays within a bound.

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { processorWaitMs } from '../support/processor-wait.js'
import { ask, forEachLimited, openTls } from './client.js'
import { createAuthority, createLeaf, type Pair } from './pki.js'
import { type Served, settingsIn, startStandIn, temporaryDirectory } from './start.js'

// A machine that is busy with something else is late for everybody; a server that is hurt by a flood is late each time.
vi.setConfig({ testTimeout: 120_000 })
const again = { retry: 2 }
const MiB = 1024 * 1024
const directory = temporaryDirectory()
const file = (name: string): string => join(directory.path, name)
const sockets = new Set<Socket>()
let served: Served
let client: Pair

beforeAll(async () => {
  const ca = await createAuthority('ca')
  client = await createLeaf(ca, { user: 'valid', groups: ['system:masters'] })
  const caFile = file('ca.crt')
  writeFileSync(caFile, ca.certificate)
  writeFileSync(file('client.crt'), client.certificate)
  writeFileSync(file('client.key'), client.key)
  served = await startStandIn({ settings: settingsIn(directory.path, 'kubelet', { clientCAFile: caFile }) })
  await ask({ port: served.port, path: '/metrics', certificate: client })
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})
afterAll(async () => {
  await served.stop()
  directory.remove()
})

const rss = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
const openFiles = (): number =>
  Number(/FDSize:\s+(\d+)/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))?.[1])

const keep = <S extends Socket>(socket: S): S => {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sockets.delete(socket))
  return socket
}
const openTcp = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = keep(connect(served.port, '127.0.0.1'))
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
const openSecure = async (): Promise<TLSSocket | undefined> => {
  try {
    return keep(await openTls(served.port))
  } catch {
    return undefined // it gave way to a younger connection before its handshake ended
  }
}

interface Watched {
  readonly slowestMs: number
  readonly answered: number
  readonly wrong: readonly string[]
  readonly peakBytes: number
}

/** A valid client in a process of its own asks on a new connection each time, from the beginning to the end of `work`. */
async function watched(work: () => Promise<void>): Promise<Watched> {
  const script = join(import.meta.dirname, 'valid-client.ts')
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', script, String(served.port), file('client.crt'), file('client.key')],
      String(served.pid),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  let peakBytes = 0
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, rss())
  }, 20)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 500))
  clearInterval(timer)
  child.stdin.end()
  const { value } = await lines.next()
  return { ...(JSON.parse(String(value)) as Omit<Watched, 'peakBytes'>), peakBytes }
}

function expectUnhurt(name: string, before: number, seen: Watched, maxGrowth: number): void {
  const growth = (seen.peakBytes - before) / MiB
  console.log(
    `${name}: ${seen.answered} answers, slowest ${seen.slowestMs.toFixed(0)} ms, memory +${growth.toFixed(0)} MiB`,
  )
  expect(seen.wrong).toEqual([])
  expect(seen.answered).toBeGreaterThan(3)
  expect(seen.slowestMs).toBeLessThan(1000)
  expect(growth).toBeLessThan(maxGrowth)
}

test('10,000 connections opened and left idle', again, async () => {
  const before = rss()
  const opened = { tcp: 0, tls: 0 }
  const seen = await watched(async () => {
    await forEachLimited(
      Array.from({ length: 9000 }, (_, i) => i),
      40,
      async () => {
        await openTcp()
        opened.tcp++
      },
    )
    await forEachLimited(
      Array.from({ length: 1000 }, (_, i) => i),
      20,
      async () => {
        if ((await openSecure()) !== undefined) opened.tls++
      },
    )
  })
  expect(opened.tcp + opened.tls).toBeGreaterThanOrEqual(9990)
  expect(openFiles()).toBeLessThanOrEqual(2048)
  expectUnhurt('10,000 idle connections', before, seen, 160)
})

test('slow headers: 600 strangers send a byte at a time', again, async () => {
  const before = rss()
  const seen = await watched(async () => {
    const slow: TLSSocket[] = []
    await forEachLimited(
      Array.from({ length: 600 }, (_, i) => i),
      20,
      async () => {
        const socket = await openSecure()
        if (socket !== undefined) slow.push(socket)
      },
    )
    for (const byte of 'GET /healthz HT') {
      for (const socket of slow) if (socket.writable) socket.write(byte)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
  })
  expectUnhurt('slow headers', before, seen, 160)
})

test('slow bodies: strangers are not waited for, known callers only so many and so long', again, async () => {
  const before = rss()
  const head = (length: number): string =>
    `POST /stats/summary HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n\r\n`
  const stranger = keep(await openTls(served.port))
  const answered = new Promise<string>((resolve) =>
    stranger.once('data', (d: Buffer) => resolve(d.toString())),
  )
  stranger.write(head(1000))
  expect(await answered).toMatch(/^HTTP\/1\.1 401 /)
  const seen = await watched(async () => {
    const slow: TLSSocket[] = []
    await forEachLimited(
      Array.from({ length: 200 }, (_, i) => i),
      20,
      async () => {
        const socket = keep(await openTls(served.port, client))
        socket.write(head(60_000))
        slow.push(socket)
      },
    )
    for (let i = 0; i < 10; i++) {
      for (const socket of slow) if (socket.writable) socket.write('x')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })
  expectUnhurt('slow bodies', before, seen, 160)
})

test(
  'headers of a megabyte: one is read, too much is refused, many do not fill the memory',
  again,
  async () => {
    const before = rss()
    const padding = (bytes: number): string => {
      const line = `X-Padding: ${'x'.repeat(8000)}\r\n`
      return line.repeat(Math.floor(bytes / line.length))
    }
    const answerTo = async (bytes: number): Promise<string> => {
      const socket = keep(await openTls(served.port))
      return new Promise((resolve) => {
        let text = ''
        socket.on('data', (d: Buffer) => {
          text += d.toString()
        })
        socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''))
        socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n${padding(bytes)}\r\n`)
      })
    }
    expect(await answerTo(900_000)).toBe('HTTP/1.1 401 Unauthorized')
    expect(await answerTo(1_300_000)).toMatch(/^(HTTP\/1\.1 431 |$)/)
    const seen = await watched(async () => {
      const unfinished = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n${padding(1_000_000)}`
      for (let round = 0; round < 15; round++)
        await forEachLimited(
          Array.from({ length: 60 }, (_, i) => i),
          20,
          async () => {
            const socket = await openSecure()
            if (socket !== undefined) await new Promise((resolve) => socket.write(unfinished, resolve))
          },
        )
    })
    expectUnhurt('900 unfinished headers of 1 MiB', before, seen, 350)
  },
)

test('afterwards the server is as quick as before', again, async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 300))
  const started = performance.now() - processorWaitMs(served.pid)
  expect((await ask({ port: served.port, path: '/healthz', certificate: client })).status).toBe(200)
  expect(performance.now() - processorWaitMs(served.pid) - started).toBeLessThan(1000)
  const { body } = await ask({ port: served.port, path: '/metrics', certificate: client })
  expect(body).toMatch(
    /keelson_http_connections_refused_total\{reason="evicted",server_type="readwrite"\} \d{4}/,
  )
})
