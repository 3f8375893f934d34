// The way to one runtime and its observable state. The first call dials. While that fails it is dialled again with gRPC's
// back-off, within the kubelet's own bounds, so that a restarted runtime is found again within three seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../core/errors.js'
import type { ConnectionState } from '../../../ports/runtime.js'
import { Connection, dialSocket } from '../connection/connection.js'
import { CallFailure } from './call-failure.js'

export interface BackoffOptions {
  readonly firstBackoffMs: number
  readonly longestBackoffMs: number
}

export const backoffDefaults: BackoffOptions = { firstBackoffMs: 100, longestBackoffMs: 3000 }

const backoffGrowth = 1.6
/** So that the clients of a node do not come all at once. */
const backoffJitter = 0.2
/** A peer that accepts and says nothing; gRPC's own bound. */
const greetingMs = 20_000
/** So long a connection on which a call has passed its deadline has for its ping. */
const silenceMs = 30_000

interface Waiter {
  readonly isPatient: boolean
  resolve(connection: Connection): void
  reject(reason: unknown): void
}

export class Channel {
  private now: ConnectionState = 'idle'
  private readonly listeners = new Set<(state: ConnectionState) => void>()
  private readonly waiters = new Set<Waiter>()
  /** With old ones that have calls in progress. */
  private readonly connections = new Set<Connection>()
  private current: Connection | undefined
  private failure: CallFailure | undefined
  private backoffMs: number
  /** Of the loop that dials; undefined while there is none. */
  private dialling: AbortController | undefined

  constructor(
    private readonly socketPath: string,
    private readonly options: BackoffOptions,
  ) {
    this.backoffMs = options.firstBackoffMs
  }

  get state(): ConnectionState {
    return this.now
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  /**
   * The connection for a new call. While the runtime is unreachable it rejects at once, or waits where `isPatient`. Rejects with
   * the signal's reason.
   */
  connection(isPatient: boolean, signal: AbortSignal): Promise<Connection> {
    if (this.current?.takesCalls === true) return Promise.resolve(this.current)
    if (this.failure !== undefined && !isPatient) return Promise.reject(this.failure)
    const waiting = this.wait(isPatient, signal)
    if (this.dialling === undefined && this.now !== 'closed') {
      this.dialling = new AbortController()
      // It never rejects.
      void this.dialUntilConnected(this.dialling.signal)
    }
    return waiting
  }

  close(): void {
    this.dialling?.abort()
    for (const connection of this.connections) connection.destroy()
    this.enter('closed')
  }

  private wait(isPatient: boolean, signal: AbortSignal): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.waiters.delete(waiter)
        reject(signal.reason)
      }
      const once =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', giveUp)
          this.waiters.delete(waiter)
          settle(value)
        }
      const waiter: Waiter = { isPatient, resolve: once(resolve), reject: once(reject) }
      this.waiters.add(waiter)
      if (signal.aborted) giveUp()
      else signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  private async dialUntilConnected(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // As in gRPC, the state stays `backoff` until an attempt succeeds.
      if (this.failure === undefined) this.enter('connecting')
      try {
        this.use(await this.dial(signal))
        break
      } catch (error) {
        if (signal.aborted) break
        this.fail(new CallFailure('unreachable', messageOf(error), { cause: error }))
      }
      await this.pause(signal)
    }
    this.dialling = undefined
  }

  private async dial(signal: AbortSignal): Promise<Connection> {
    const socket = await dialSocket(this.socketPath)
    if (signal.aborted) socket.destroy()
    signal.throwIfAborted()
    const connection = new Connection(socket, this.socketPath, silenceMs)
    this.connections.add(connection)
    connection.session.once('close', () => this.connections.delete(connection))
    await greeted(connection)
    return connection
  }

  private use(connection: Connection): void {
    const leave = (): void => {
      if (this.current !== connection) return
      this.current = undefined
      if (this.now === 'ready') this.enter('idle')
    }
    connection.session.once('close', leave).once('goaway', leave)
    this.current = connection
    this.failure = undefined
    this.backoffMs = this.options.firstBackoffMs
    this.enter('ready')
    for (const waiter of this.waiters) waiter.resolve(connection)
  }

  private fail(failure: CallFailure): void {
    this.failure = failure
    this.enter('backoff')
    for (const waiter of this.waiters) if (!waiter.isPatient) waiter.reject(failure)
  }

  private async pause(signal: AbortSignal): Promise<void> {
    const jitter = 1 + backoffJitter * (2 * Math.random() - 1)
    const pauseMs = this.backoffMs * jitter
    this.backoffMs = Math.min(this.backoffMs * backoffGrowth, this.options.longestBackoffMs)
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }

  private enter(state: ConnectionState): void {
    if (this.now === state || this.now === 'closed') return
    this.now = state
    for (const listener of [...this.listeners]) listener(state)
  }
}

/** The peer's settings are the first that an HTTP/2 server sends. */
function greeted({ session }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => session.destroy(new Error(`no HTTP/2 settings within ${greetingMs} ms`)),
      greetingMs,
    )
    const over = (): void => clearTimeout(timer)
    session.once('remoteSettings', () => {
      over()
      resolve()
    })
    session.once('error', reject)
    session.once('close', () => {
      over()
      reject(new Error('the connection was closed before it was established'))
    })
  })
}
