// The connection to the runtime, by Node's HTTP/2: dialled by the first call, dropped when it breaks or after GOAWAY, dialled
// again by the next call. While the runtime does not listen, every call fails at once.
import { keelsonError, messageOf } from '../../../core/errors.js'
import { Connection, dialSocket } from '../connection/connection.js'

export interface Upstream {
  /** The connection that takes new calls. Error: runtime.unavailable. */
  connection(): Promise<Connection>
  /** Connections that are open, including old ones with calls in progress. */
  readonly connections: number
  close(): void
}

const unavailable = (socketPath: string, cause: unknown): Error => {
  const why = messageOf(cause)
  return keelsonError(
    'runtime.unavailable',
    `reach the container runtime at ${socketPath}: ${why}; is it running?`,
    { socket: socketPath },
    cause,
  )
}

/** Called once for each change: with the error of the first call that failed, or undefined when the runtime is reachable again. */
export type OnReach = (socketPath: string, error: Error | undefined) => void

/** `silenceMs`: so long a doubted connection has for its ping. */
export function createUpstream(socketPath: string, silenceMs: number, onReach?: OnReach): Upstream {
  const connections = new Set<Connection>()
  let current: Connection | undefined
  let dialling: Promise<Connection> | undefined
  let isClosed = false
  let isUnreachable = false

  const report = (error: Error | undefined): void => {
    if (isClosed || isUnreachable === (error !== undefined)) return
    isUnreachable = error !== undefined
    onReach?.(socketPath, error)
  }

  async function dial(): Promise<Connection> {
    try {
      const socket = await dialSocket(socketPath)
      if (isClosed) {
        socket.destroy()
        throw new Error('the server is shutting down')
      }
      const made = new Connection(socket, socketPath, silenceMs)
      connections.add(made)
      made.session.once('close', () => connections.delete(made))
      current = made
      report(undefined)
      return made
    } catch (cause) {
      const error = unavailable(socketPath, cause)
      report(error)
      throw error
    } finally {
      dialling = undefined
    }
  }

  const redial = (): Promise<Connection> => {
    dialling ??= dial()
    return dialling
  }

  return {
    async connection() {
      if (current?.takesCalls === true) return current
      const made = await redial()
      // One that gets GOAWAY before its first call is replaced, once.
      return made.takesCalls ? made : await redial()
    },
    get connections() {
      return connections.size
    },
    close() {
      isClosed = true
      for (const connection of connections) connection.destroy()
    },
  }
}
