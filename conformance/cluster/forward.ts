// Passes connections on: from a port of the host's loopback to a socket file, and from there, inside a network namespace, to
// an address that only exists there. A socket file is reachable from every network namespace, so that nothing of the
// host's network is changed.
import { once } from 'node:events'
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Socket,
} from 'node:net'

export interface Forwarder {
  /** 0 for a socket file. */
  readonly port: number
  close(): Promise<void>
}

/** Bytes both ways; the end or an error of one side ends the other. */
function join(a: Socket, b: Socket): void {
  a.on('error', () => b.destroy()).on('close', () => b.destroy())
  b.on('error', () => a.destroy()).on('close', () => a.destroy())
  a.pipe(b).pipe(a)
}

export async function forward(from: ListenOptions, to: NetConnectOpts): Promise<Forwarder> {
  const open = new Set<Socket>()
  const server = createServer((incoming) => {
    open.add(incoming)
    incoming.once('close', () => open.delete(incoming))
    join(incoming, connect(to))
  })
  server.listen(from)
  await once(server, 'listening') // rejects when the port is taken
  const address = server.address() as AddressInfo | string
  return {
    port: typeof address === 'string' ? 0 : address.port,
    async close() {
      for (const connection of open) connection.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
