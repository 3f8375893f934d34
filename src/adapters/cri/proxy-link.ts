// The connection to the runtime: dialled when first wanted, dropped when it breaks or says goodbye, dialled again by the
// next call. While nobody listens, every call learns it at once.
import { fail } from '../../core/errors.js'
import { RuntimeConnection } from './h2-connection.js'
import { createSweep } from './proxy-sweep.js'
import { connectInTurns } from './proxy-turn.js'
import { createWindowKeeper, firstWindowBytes, type WindowKeeper } from './proxy-window.js'
import { createResetBudget, type ResetBudget } from './server-resets.js'

export interface Link {
  readonly socketPath: string
  /** The connection that takes new calls. Error: runtime.unavailable. */
  connection(): RuntimeConnection | Promise<RuntimeConnection>
  /** Around each call on a connection: one that has carried many cancelled calls is given up when its last one ends. */
  begin(connection: RuntimeConnection): void
  end(connection: RuntimeConnection, wasCancelled: boolean): void
  /** How much may wait in the stream of one caller whose answer comes over this connection. */
  aheadBytes(connection: RuntimeConnection): number
  /** This connection takes no new calls any more, and is closed when those under way have ended. */
  retire(connection: RuntimeConnection): void
  /** Connections that are open, old ones with calls under way included. */
  readonly open: number
  close(): void
}

/** Of the whole connection. Given back on arrival, so that a slow stream does not hold up its neighbours. */
export const connectionWindowBytes = 16 * 1024 * 1024
/** In MiB, of a client's connection; beyond it Node refuses new streams. Node's 10 are passed by a few large answers. */
export const sessionMemoryMiB = 1024

const unavailable = (socketPath: string, cause: unknown): Error => {
  const why = cause instanceof Error ? cause.message : String(cause)
  return fail(
    'runtime.unavailable',
    `reach the container runtime at ${socketPath}: ${why}; is it running?`,
    { socket: socketPath },
    cause,
  )
}

interface Use {
  readonly budget: ResetBudget
  readonly window: WindowKeeper
  calls: number
  isRetired: boolean
}

/** Told once for each change: the error of the first call that found nobody, undefined when somebody is there again. */
export type OnReach = (socketPath: string, error: Error | undefined) => void

export function createLink(socketPath: string, onReach?: OnReach): Link {
  const sweep = createSweep()
  const uses = new Map<RuntimeConnection, Use>()
  let current: RuntimeConnection | undefined
  let dialling: Promise<RuntimeConnection> | undefined
  let isClosed = false
  let isAway = false

  const tell = (error: Error | undefined): void => {
    if (isClosed || isAway === (error !== undefined)) return
    isAway = error !== undefined
    onReach?.(socketPath, error)
  }

  const drop = (connection: RuntimeConnection): void => {
    if (current === connection) current = undefined
  }

  function retire(connection: RuntimeConnection): void {
    drop(connection)
    const use = uses.get(connection)
    if (use === undefined) return
    use.isRetired = true
    if (use.calls === 0) connection.close()
  }

  const dialOnce = (): Promise<RuntimeConnection> =>
    new Promise((resolve, reject) => {
      let connection: RuntimeConnection | undefined
      const socket = connectInTurns(socketPath, (bytes, from) => {
        connection?.read(bytes, from)
        if (!from.isLent) sweep.count(bytes.length)
      })
      socket.once('error', reject)
      // In the same turn: its first bytes must find somebody.
      socket.once('connect', () => {
        socket.off('error', reject)
        if (isClosed) {
          socket.destroy()
          return reject(new Error('the server is ending'))
        }
        const made = new RuntimeConnection(socket, {
          streamWindowBytes: firstWindowBytes,
          connectionWindowBytes,
          // Calls that began since the last change have been left out of it.
          onSettled: () => {
            const use = uses.get(made)
            use?.window.adjust(use.calls)
          },
          onGoaway: () => drop(made),
          onClose: () => {
            drop(made)
            uses.delete(made)
          },
        })
        connection = made
        uses.set(made, {
          budget: createResetBudget(),
          window: createWindowKeeper(made),
          calls: 0,
          isRetired: false,
        })
        current = made
        resolve(made)
      })
    })

  async function dial(): Promise<RuntimeConnection> {
    try {
      const made = await dialOnce()
      tell(undefined)
      return made
    } catch (cause) {
      const error = unavailable(socketPath, cause)
      tell(error)
      throw error
    } finally {
      dialling = undefined
    }
  }

  return {
    socketPath,
    connection() {
      if (current?.isOpen === true) return current
      dialling ??= dial()
      return dialling
    },
    begin(connection) {
      const use = uses.get(connection)
      if (use === undefined) return
      use.calls += 1
      use.window.adjust(use.calls)
    },
    end(connection, wasCancelled) {
      const use = uses.get(connection)
      if (use === undefined) return
      use.calls -= 1
      use.window.adjust(use.calls)
      if (wasCancelled && use.budget.spend() !== 'fine') retire(connection)
      // Not before the last call: a goodbye makes some servers refuse what they have not looked at yet.
      if (use.isRetired && use.calls === 0) connection.close()
    },
    aheadBytes: (connection) => uses.get(connection)?.window.aheadBytes ?? 0,
    retire,
    get open() {
      return uses.size
    },
    close() {
      isClosed = true
      for (const connection of [...uses.keys()]) connection.destroy()
    },
  }
}
