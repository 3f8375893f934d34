// Several byte streams over one line: each connection has a number and a window, so that a slow reader holds up its own
// connection and no other. Both ends run the same code; the line itself must be reliable.
import type { Duplex, Readable, Writable } from 'node:stream'

export interface Mux {
  /** Carries this socket to the other end, which opens its own. */
  carry(socket: Duplex): void
  /** Ends every connection. */
  close(): void
}

/** Called for each connection that the other end opens. */
type OpenSocket = () => Duplex

const headerBytes = 7
const maxPayload = 4096
/** What may be under way per connection before its reader has taken some. */
const windowBytes = 64 * 1024
const maxConnections = 256

const kinds = { open: 0, data: 1, end: 2, taken: 3, reset: 4 } as const

interface Connection {
  readonly socket: Duplex
  /** Bytes that the other end still takes. */
  credit: number
  wake: (() => void) | undefined
  ended: boolean
}

const frame = (id: number, kind: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(id, 0)
  header.writeUInt8(kind, 4)
  header.writeUInt16BE(payload.length, 5)
  return Buffer.concat([header, payload])
}

const nothing = Buffer.alloc(0)

/** The end of what is read must not close what is still written. */
const whole = (socket: Duplex): AsyncIterable<Buffer> => socket.iterator({ destroyOnReturn: false })

export function createMux(line: { readonly in: Readable; readonly out: Writable }, open: OpenSocket): Mux {
  const connections = new Map<number, Connection>()
  let last = 0
  let rest: Buffer = nothing

  const send = (id: number, kind: number, payload: Buffer = nothing): boolean =>
    line.out.write(frame(id, kind, payload))

  function drop(id: number, connection: Connection): void {
    if (connections.delete(id)) connection.socket.destroy()
    connection.wake?.()
  }

  /** Reads the socket no faster than the other end takes it. */
  async function pump(id: number, connection: Connection): Promise<void> {
    try {
      for await (const part of whole(connection.socket))
        for (let at = 0; at < part.length; ) {
          while (connection.credit === 0 && connections.has(id))
            await new Promise<void>((resolve) => {
              connection.wake = resolve
            })
          if (!connections.has(id)) return
          const size = Math.min(maxPayload, connection.credit, part.length - at)
          connection.credit -= size
          if (!send(id, kinds.data, part.subarray(at, at + size)))
            await new Promise<void>((resolve) => line.out.once('drain', resolve))
          at += size
        }
    } catch {
      // The error handler of the socket has closed the other end.
      return
    }
    if (connections.has(id)) send(id, kinds.end)
    finish(id, connection)
  }

  /** Gone when both sides have ended. */
  function finish(id: number, connection: Connection): void {
    if (connection.ended || connection.socket.destroyed) drop(id, connection)
    else connection.ended = true
  }

  function start(id: number, socket: Duplex): void {
    const connection: Connection = { socket, credit: windowBytes, wake: undefined, ended: false }
    connections.set(id, connection)
    socket.on('error', () => {
      if (connections.has(id)) send(id, kinds.reset)
      drop(id, connection)
    })
    void pump(id, connection)
  }

  function take(id: number, kind: number, payload: Buffer): void {
    const connection = connections.get(id)
    if (kind === kinds.open) {
      if (connections.size < maxConnections) start(id, open())
      else send(id, kinds.reset)
    } else if (connection === undefined) return
    else if (kind === kinds.data)
      connection.socket.write(payload, () => {
        const taken = Buffer.alloc(4)
        taken.writeUInt32BE(payload.length)
        if (connections.has(id)) send(id, kinds.taken, taken)
      })
    else if (kind === kinds.taken) {
      connection.credit += payload.readUInt32BE(0)
      connection.wake?.()
    } else if (kind === kinds.reset) drop(id, connection)
    else {
      connection.socket.end()
      finish(id, connection)
    }
  }

  line.in.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data])
    while (rest.length >= headerBytes) {
      const size = headerBytes + rest.readUInt16BE(5)
      if (rest.length < size) return
      take(rest.readUInt32BE(0), rest.readUInt8(4), rest.subarray(headerBytes, size))
      rest = rest.subarray(size)
    }
  })
  const close = (): void => {
    for (const [id, connection] of [...connections]) drop(id, connection)
  }
  for (const stream of [line.in, line.out]) stream.on('error', close).on('close', close)

  return {
    carry(socket) {
      if (connections.size >= maxConnections) return void socket.destroy()
      last += 1
      send(last, kinds.open)
      start(last, socket)
    },
    close,
  }
}
