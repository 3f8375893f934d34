// The host's end of a forwarded port: listens on loopback and carries each connection over the machine's line.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { PortForward } from '../machine.js'
import { createMux } from './mux.js'

interface ForwardedPort {
  close(): void
}

export interface ReservedPort {
  /** From now on connections are carried; until then they wait. */
  serve(line: { readonly in: Readable; readonly out: Writable }): ForwardedPort
  close(): void
}

/** Taken before the machine boots, so that a port in use is known at once. */
export async function reservePort({ hostPort }: PortForward): Promise<ReservedPort> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true })
  const listening = once(server, 'listening')
  server.listen(hostPort, '127.0.0.1')
  try {
    await listening
  } catch (e) {
    throw keelsonError(
      'lab.port',
      `listen on 127.0.0.1:${hostPort}: ${messageOf(e)}; stop the program that uses the port, or choose another one`,
      { port: hostPort },
      e,
    )
  }
  return {
    serve(line) {
      const mux = createMux(line, () => {
        throw new Error('a machine does not open connections to its host')
      })
      server.on('connection', (socket) => mux.carry(socket))
      return {
        close() {
          mux.close()
          server.close()
        },
      }
    },
    close: () => void server.close(),
  }
}
