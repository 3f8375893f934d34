// One process at a time, by a name in the kernel that goes with its holder: an abstract unix socket. It needs no clean-up
// after SIGKILL and, unlike a file with a process id, means the same in every pid namespace of the host's network.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Undefined: somebody else holds it. */
export async function takeProcessLock(name: string): Promise<{ release(): void } | undefined> {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32)
  const server = createServer((socket) => socket.destroy())
  server.unref()
  try {
    server.listen({ path: `\0keelson-${digest}` })
    await once(server, 'listening')
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'EADDRINUSE') return undefined
    throw e
  }
  return { release: () => void server.close() }
}
