// Who gets the socket when several servers want it at once.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isKeelsonError } from '../../../core/errors.js'
import { listenOnSocket } from './socket.js'

const directory = mkdtempSync(join(tmpdir(), 'keelson-socket-'))
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(directory, { recursive: true })
})

/** Says its number to whoever calls. */
const numbered = (n: number): Server => {
  const server = createServer((socket) => socket.on('error', () => {}).end(String(n)))
  servers.push(server)
  return server
}

const whoAnswers = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let heard = ''
    connect(path)
      .on('data', (data) => {
        heard += String(data)
      })
      .once('end', () => resolve(heard))
      .once('error', reject)
  })

test('of several that start at once one gets it, and it is the one that answers', async () => {
  for (let round = 0; round < 20; round++) {
    const path = join(directory, `cri-${round}.sock`)
    const tried = await Promise.allSettled([0, 1, 2].map((n) => listenOnSocket(numbered(n), path)))
    const won = tried.flatMap((t, n) => (t.status === 'fulfilled' ? [n] : []))
    expect(won).toHaveLength(1)
    expect(await whoAnswers(path)).toBe(String(won[0]))
    for (const t of tried)
      if (t.status === 'rejected') {
        expect(isKeelsonError(t.reason) && t.reason.code).toBe('server.listen')
        expect(String(t.reason)).toMatch(/another (server is starting|process is listening) there/)
      }
  }
})

test('the next one may listen when the first has gone, and not before', async () => {
  const path = join(directory, 'next.sock')
  const first = numbered(1)
  const file = await listenOnSocket(first, path)
  await expect(listenOnSocket(numbered(2), path)).rejects.toThrow(/another process is listening there/)
  expect(await whoAnswers(path)).toBe('1')
  await new Promise((resolve) => first.close(resolve))
  await file.remove()
  await listenOnSocket(numbered(3), path)
  expect(await whoAnswers(path)).toBe('3')
})
