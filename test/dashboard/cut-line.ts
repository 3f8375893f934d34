// A wire between browser and server that a test can cut and mend.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export interface Wire {
  readonly port: number
  cut(): Promise<void>
  mend(): Promise<void>
}

export async function layWire(to: number): Promise<Wire> {
  const sockets = new Set<Socket>()
  let server: Server
  let port = 0
  const mend = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(to, '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  await mend()
  return {
    get port() {
      return port
    },
    async cut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    mend,
  }
}
