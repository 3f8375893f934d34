import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectPausable, createTurn, turnBytes } from './proxy-turn.js'

const answerBytes = 8 * 1024 * 1024
/** One more read of 64 KiB may have begun. */
const mostInOneTurn = turnBytes + 64 * 1024

let directory: string
let path: string
let server: ReturnType<typeof createServer>
const connections = new Set<Socket>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-turn-'))
  path = join(directory, 'runtime.sock')
  server = createServer()
  connections.clear()
  server.on('connection', (socket: Socket) => connections.add(socket))
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    stream.end(Buffer.alloc(answerBytes, 'x'))
  })
  server.listen(path)
  await once(server, 'listening')
})

afterEach(async () => {
  server.close()
  await rm(directory, { recursive: true, force: true })
})

/** Bytes of an answer by turns of the loop. */
async function readByTurns(socket: Socket, count: (bytes: number) => void): Promise<number[]> {
  await once(socket, 'connect')
  const session = connect('http://localhost', {
    createConnection: () => socket,
    settings: { initialWindowSize: answerBytes },
  })
  session.once('connect', () => session.setLocalWindowSize(answerBytes))
  const stream = session.request({ ':path': '/' })
  const turns: number[] = [0]
  let isNew = true
  stream.on('data', (chunk: Buffer) => {
    if (isNew) {
      turns.push(0)
      isNew = false
      setImmediate(() => {
        isNew = true
      })
    }
    turns.push((turns.pop() ?? 0) + chunk.length)
    count(chunk.length)
  })
  await once(stream, 'end')
  session.destroy()
  return turns
}

test('one turn takes a little of a large answer, and all of it comes', async () => {
  const socket = connectPausable(path)
  const turns = await readByTurns(socket, createTurn(socket))
  expect(turns.reduce((a, b) => a + b)).toBe(answerBytes)
  expect(Math.max(...turns)).toBeLessThanOrEqual(mostInOneTurn)
})

test('a runtime that goes away while its connection rests is noticed', async () => {
  const socket = connectPausable(path)
  const turn = createTurn(socket)
  await once(socket, 'connect')
  const session = connect('http://localhost', { createConnection: () => socket })
  session.on('error', () => {})
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  const gone = once(session, 'close')
  stream.once('data', () => {
    turn(turnBytes)
    for (const one of connections) one.destroy()
  })
  await gone
  expect(socket.destroyed).toBe(true)
})
