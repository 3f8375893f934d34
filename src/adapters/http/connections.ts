// Keeps the number of connections and the memory of unknown callers bounded. A connection that serves a known caller
// is never touched; of the others the oldest gives way, so that strangers cannot lock out a valid client.
import type { Socket } from 'node:net'
import type { ConnectionLimits, RefusedReason } from '../../ports/http.js'

export interface Connection {
  readonly raw: Socket
  readonly openedMs: number
  /** Trust bundle in use when the connection came in. */
  readonly generation: number
  /** A request of this connection is with the handler. */
  requests: number
  /** Exchanges of a known caller under way. */
  admitted: number
  wasAdmitted: boolean
  /** Bytes received and not yet owned by a known caller. */
  unknownBytes: number
}

export interface Connections {
  readonly size: number
  add(raw: Socket, generation: number): Connection
  of(socket: Socket): Connection | undefined
  received(connection: Connection, bytes: number): void
  admit(connection: Connection): void
  /** An admitted exchange is over. */
  release(connection: Connection): void
  cut(connection: Connection, reason: RefusedReason): void
  all(): Iterable<Connection>
  close(): void
}

/**
 * The raw socket under a TLS socket. Addresses and ports would not do: a peer may use one source port for several of ours, and
 * use it again before we have heard that the connection before is over. Node has no public name for this link, which its own
 * timers follow in every release; should it ever go, requests over TLS are cut, and no test of the server passes.
 */
const rawOf = (socket: Socket & { readonly _parent?: Socket | null }): Socket => socket._parent ?? socket

export function createConnections(
  limits: ConnectionLimits,
  onRefused: (reason: RefusedReason) => void,
): Connections {
  /** By raw socket, oldest first. */
  const open = new Map<Socket, Connection>()
  let unknownBytes = 0

  const forget = (connection: Connection): void => {
    unknownBytes -= connection.unknownBytes
    connection.unknownBytes = 0
    open.delete(connection.raw)
  }

  const cut = (connection: Connection, reason: RefusedReason): void => {
    onRefused(reason)
    connection.raw.destroy()
    forget(connection)
  }

  /** Oldest unauthenticated connection first; then the oldest idle authenticated one. */
  const victim = (): Connection | undefined => {
    let idle: Connection | undefined
    for (const c of open.values()) {
      if (c.admitted > 0) continue
      if (!c.wasAdmitted) return c
      idle ??= c
    }
    return idle
  }

  const largestStranger = (): Connection | undefined => {
    let largest: Connection | undefined
    for (const c of open.values())
      if (c.admitted === 0 && c.unknownBytes > (largest?.unknownBytes ?? 0)) largest = c
    return largest
  }

  const sweep = (): void => {
    const oldest = performance.now() - limits.headersTimeoutMs - limits.handshakeTimeoutMs
    for (const c of open.values())
      if (!c.wasAdmitted && c.requests === 0 && c.openedMs < oldest) cut(c, 'timeout')
  }
  const timer = setInterval(sweep, 1000).unref()

  return {
    get size() {
      return open.size
    },
    add(raw, generation) {
      const connection: Connection = {
        raw,
        openedMs: performance.now(),
        generation,
        requests: 0,
        admitted: 0,
        wasAdmitted: false,
        unknownBytes: 0,
      }
      raw.once('close', () => forget(connection))
      if (open.size >= limits.maxConnections) {
        const other = victim()
        if (other === undefined) {
          cut(connection, 'full')
          return connection
        }
        cut(other, 'evicted')
      }
      open.set(raw, connection)
      return connection
    },
    of: (socket) => open.get(rawOf(socket)),
    received(connection, bytes) {
      if (connection.admitted > 0) return
      connection.unknownBytes += bytes
      unknownBytes += bytes
      while (unknownBytes > limits.maxUnknownBytes) {
        const largest = largestStranger()
        if (largest === undefined) return
        cut(largest, 'evicted')
      }
    },
    admit(connection) {
      connection.admitted++
      connection.wasAdmitted = true
      unknownBytes -= connection.unknownBytes
      connection.unknownBytes = 0
    },
    release: (connection) => void connection.admitted--,
    cut,
    all: () => open.values(),
    close: () => clearInterval(timer),
  }
}
