// One D-Bus connection: calls with a deadline, signals, and the news of its end. The library keeps a call for ever when the
// connection is lost or the peer is silent, so both are watched here.
import { EventEmitter } from 'node:events'
import { Duplex } from 'node:stream'
import type { Message, MessageBus } from '@jellybrick/dbus-next'

export interface BusCall {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: readonly unknown[]
}

export interface BusSignal {
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly body: readonly unknown[]
}

/** The connection ended, or never came to be. */
export class BusClosed extends Error {
  override readonly name = 'BusClosed'
}

/** The answer did not come in time. */
export class BusDeadline extends Error {
  override readonly name = 'BusDeadline'
}

export interface Deadline {
  /** Milliseconds left. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const SIGNAL = 4

export class Bus {
  private readonly pending = new Set<(error: Error) => void>()
  private ended: Error | undefined

  private constructor(
    private readonly bus: MessageBus,
    private readonly makeMessage: (call: BusCall) => Message,
    private readonly handlers: { onSignal(signal: BusSignal): void; onEnd(): void },
  ) {
    bus.on('message', (message) => {
      if (message.type === SIGNAL) handlers.onSignal(message)
    })
    Reflect.apply(bus.on, bus, ['error', (error: Error) => this.end(error)])
    // The bus object does not pass on the end of its connection; its connection does.
    const connection: unknown = Reflect.get(bus, '_connection')
    if (connection instanceof EventEmitter)
      connection.on('end', () => this.end(new BusClosed('the bus closed the connection')))
  }

  static async connect(
    address: string,
    handlers: { onSignal(signal: BusSignal): void; onEnd(): void },
    deadline: Deadline,
  ): Promise<Bus> {
    const { sessionBus, Message } = await import('@jellybrick/dbus-next')
    deadline.signal?.throwIfAborted()
    const raw = sessionBus({ busAddress: address, authMethods: ['EXTERNAL'] })
    const bus = new Bus(raw, (call) => new Message({ ...call, body: [...(call.body ?? [])] }), handlers)
    await bus
      .within(new Promise<void>((resolve) => raw.once('connect', resolve)), deadline)
      .catch((error: unknown) => {
        bus.close()
        throw error
      })
    return bus
  }

  get isOpen(): boolean {
    return this.ended === undefined
  }

  async call(call: BusCall, deadline: Deadline): Promise<readonly unknown[]> {
    if (this.ended !== undefined) throw this.ended
    const reply = await this.within(this.bus.call(this.makeMessage(call)), deadline).catch(
      (error: unknown) => {
        // A peer that is silent once may be so for good, and the library never forgets the call: start afresh.
        if (error instanceof BusDeadline) this.close()
        throw error
      },
    )
    return reply?.body ?? []
  }

  /** Settles with the work, the end of the connection, the time or the signal, whichever is first. */
  private within<T>(work: Promise<T>, { timeoutMs, signal }: Deadline): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.pending.delete(onEnd)
        finish()
      }
      const onAbort = () => settle(() => reject(signal?.reason))
      const onEnd = (error: Error) => settle(() => reject(error))
      const timer = setTimeout(() => onEnd(new BusDeadline(`no response within ${timeoutMs} ms`)), timeoutMs)
      if (signal?.aborted) return onAbort()
      signal?.addEventListener('abort', onAbort, { once: true })
      this.pending.add(onEnd)
      work.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      )
      return undefined
    })
  }

  private end(error: Error): void {
    if (this.ended !== undefined) return
    this.ended = error instanceof BusClosed ? error : new BusClosed(error.message, { cause: error })
    for (const reject of [...this.pending]) reject(this.ended)
    this.destroy()
    this.handlers.onEnd()
  }

  /** `disconnect` only closes our half; a silent peer would keep the socket. */
  private destroy(): void {
    const connection: unknown = Reflect.get(this.bus, '_connection')
    const stream: unknown = connection instanceof EventEmitter ? Reflect.get(connection, 'stream') : undefined
    if (stream instanceof Duplex) stream.destroy()
    else this.bus.disconnect()
  }

  close(): void {
    this.end(new BusClosed('closed'))
  }
}
