// The connection to the runtime: dialled when first wanted, dropped when it breaks or says goodbye, dialled again by the
// next call. While nobody listens, every call learns it at once.
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import type { Socket } from 'node:net'
import { fail } from '../../core/errors.js'
import { createSweep } from './proxy-sweep.js'
import { connectPausable, createTurn } from './proxy-turn.js'
import { createWindowKeeper, firstWindowBytes, type WindowKeeper } from './proxy-window.js'
import { createResetBudget, type ResetBudget } from './server-resets.js'

export interface Link {
  readonly socketPath: string
  /** The connection that takes new calls. Error: runtime.unavailable. */
  session(): ClientHttp2Session | Promise<ClientHttp2Session>
  /** Around each call on a connection: one that has carried many cancelled calls is given up when its last one ends. */
  begin(session: ClientHttp2Session): void
  end(session: ClientHttp2Session, wasCancelled: boolean): void
  /** Each piece of an answer as it comes. */
  received(session: ClientHttp2Session, bytes: number): void
  /** How much may wait in the stream of one caller whose answer comes over this connection. */
  aheadBytes(session: ClientHttp2Session): number
  /** This connection takes no new calls any more, and is closed when those under way have ended. */
  retire(session: ClientHttp2Session): void
  /** Connections that are open, old ones with calls under way included. */
  readonly open: number
  close(): void
}

/** Of the whole connection. Node gives it back on arrival, so that a slow stream does not hold up its neighbours. */
export const connectionWindowBytes = 16 * 1024 * 1024
/** In MiB; beyond it Node refuses new streams. Node's 10 are passed by a few large answers. */
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

const dialSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectPausable(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })

interface Use {
  readonly budget: ResetBudget
  readonly window: WindowKeeper
  readonly turn: (bytes: number) => void
  calls: number
  isRetired: boolean
}

export function createLink(socketPath: string): Link {
  const sweep = createSweep()
  const sessions = new Map<ClientHttp2Session, Use>()
  let current: ClientHttp2Session | undefined
  let dialling: Promise<ClientHttp2Session> | undefined
  let isClosed = false

  const drop = (session: ClientHttp2Session): void => {
    if (current === session) current = undefined
  }

  function retire(session: ClientHttp2Session): void {
    drop(session)
    const use = sessions.get(session)
    if (use !== undefined) use.isRetired = true
  }

  function adopt(socket: Socket): ClientHttp2Session {
    const session = connectHttp2('http://localhost', {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: firstWindowBytes },
      maxSessionMemory: sessionMemoryMiB,
      peerMaxConcurrentStreams: 100_000,
    })
    sessions.set(session, {
      budget: createResetBudget(),
      window: createWindowKeeper(session),
      turn: createTurn(socket),
      calls: 0,
      isRetired: false,
    })
    session.once('connect', () => session.setLocalWindowSize(connectionWindowBytes))
    session.on('goaway', () => drop(session))
    // What broke is told to each call by the end of its own stream.
    session.on('error', () => drop(session))
    session.once('close', () => {
      drop(session)
      sessions.delete(session)
    })
    current = session
    return session
  }

  async function dial(): Promise<ClientHttp2Session> {
    try {
      const socket = await dialSocket(socketPath)
      if (isClosed) socket.destroy()
      if (isClosed) throw new Error('the server is ending')
      return adopt(socket)
    } catch (cause) {
      throw unavailable(socketPath, cause)
    } finally {
      dialling = undefined
    }
  }

  return {
    socketPath,
    session() {
      if (current !== undefined && !current.closed && !current.destroyed) return current
      dialling ??= dial()
      return dialling
    },
    begin(session) {
      const use = sessions.get(session)
      if (use === undefined) return
      use.calls += 1
      use.window.adjust(use.calls)
    },
    end(session, wasCancelled) {
      const use = sessions.get(session)
      if (use === undefined) return
      use.calls -= 1
      use.window.adjust(use.calls)
      if (wasCancelled && use.budget.spend() !== 'fine') retire(session)
      // Not before the last call: a goodbye makes some servers refuse what they have not looked at yet.
      if (use.isRetired && use.calls === 0) session.close()
    },
    received(session, bytes) {
      sweep.count(bytes)
      sessions.get(session)?.turn(bytes)
    },
    aheadBytes: (session) => sessions.get(session)?.window.aheadBytes ?? 0,
    retire,
    get open() {
      return sessions.size
    },
    close() {
      isClosed = true
      for (const session of sessions.keys()) session.destroy()
    },
  }
}
