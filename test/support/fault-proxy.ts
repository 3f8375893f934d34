// A way to the API server that fails on demand: connections that are refused, go silent without an end, or are slow.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Fault = 'none' | 'refuse' | 'silent' | 'slow'

export interface FaultProxy {
  readonly port: number
  /** Connections that were opened so far. */
  readonly opened: () => number
  /** `silent`: nothing more passes on any connection, open ones too, and none is closed. `slow`: answers come late. */
  set(fault: Fault, slowMs?: number): void
  /** Ends every connection, as a restarted balancer does. */
  cut(): void
  close(): Promise<void>
}

const handshakeMs = 300

export async function startFaultProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<FaultProxy> {
  const now = { fault: 'none' as Fault, slowMs: 0 }
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>()
  let opened = 0
  const listener = createServer((client) => {
    opened++
    if (now.fault === 'refuse') return client.resetAndDestroy()
    const server = connect(target)
    const openedAt = Date.now()
    const pair = { client, server }
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    client.on('error', end).on('close', end)
    server.on('error', end).on('close', end)
    client.on('data', (data: Buffer) => {
      if (now.fault !== 'silent') server.write(data)
    })
    server.on('data', (data: Buffer) => {
      // A slow server answers late; its handshakes are the kernel's and OpenSSL's.
      if (now.fault === 'slow' && Date.now() - openedAt > handshakeMs)
        setTimeout(() => client.writable && client.write(data), now.slowMs)
      else if (now.fault !== 'silent') client.write(data)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (): void => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }
  return {
    port: (listener.address() as AddressInfo).port,
    opened: () => opened,
    set(fault, slowMs = 0) {
      Object.assign(now, { fault, slowMs })
      if (fault === 'refuse') cut()
    },
    cut,
    async close() {
      cut()
      await new Promise((done) => listener.close(done))
    },
  }
}
