import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBytes } from './proxy-buffers.js'
import { connectInTurns } from './proxy-turn.js'

const answerBytes = 8 * 1024 * 1024

let directory: string
let path: string
let server: Server
const connections = new Set<Socket>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-turn-'))
  path = join(directory, 'runtime.sock')
  connections.clear()
  server = createServer((socket) => {
    connections.add(socket)
    socket.on('error', () => {})
    socket.write(Buffer.alloc(answerBytes, 'x'))
  })
  server.listen(path)
  await once(server, 'listening')
})

afterEach(async () => {
  for (const one of connections) one.destroy()
  server.close()
  await rm(directory, { recursive: true, force: true })
})

test('one turn takes a part of a large answer, and all of it comes', async () => {
  const turns: number[] = []
  let isNew = true
  let resolve: () => void = () => {}
  const done = new Promise<void>((r) => {
    resolve = r
  })
  const socket = connectInTurns(path, (bytes) => {
    if (isNew) {
      turns.push(0)
      isNew = false
      setImmediate(() => {
        isNew = true
      })
    }
    turns.push((turns.pop() ?? 0) + bytes.length)
    if (turns.reduce((a, b) => a + b) === answerBytes) resolve()
  })
  await done
  socket.destroy()
  // A read that does not fill the buffer may be followed by another in the same turn.
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * readBytes)
})

test('a runtime that goes away while its connection rests is noticed', async () => {
  let isFirst = true
  const socket = connectInTurns(path, () => {
    if (isFirst) for (const one of connections) one.destroy()
    isFirst = false
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})
