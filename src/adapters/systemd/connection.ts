// Keeps one live connection to systemd's manager: made when first needed, made again after the bus went away.
import { Bus, type BusCall, BusClosed, BusDeadline, type BusSignal, type Deadline } from './bus.js'
import { unavailable } from './errors.js'

const MANAGER = 'org.freedesktop.systemd1.Manager'
const DESTINATION = 'org.freedesktop.systemd1'
const PATH = '/org/freedesktop/systemd1'
const FIRST_RETRY_MS = 200
const LAST_RETRY_MS = 30_000
const RECONNECT_TIMEOUT_MS = 10_000

/** A call to the manager, or to another object of systemd. */
type ManagerCall = Pick<BusCall, 'member' | 'signature' | 'body'> &
  Partial<Pick<BusCall, 'path' | 'interface'>>

export class Connection {
  private current: Promise<Bus> | undefined
  private live: Bus | undefined
  private retry: NodeJS.Timeout | undefined
  private closed = false

  constructor(
    private readonly address: string,
    private readonly onSignal: (signal: BusSignal) => void,
    /** Called after a lost connection: is a listener left? */
    private readonly isNeeded: () => boolean,
    private readonly onReconnected: () => void,
  ) {}

  async call(call: ManagerCall, deadline: Deadline): Promise<readonly unknown[]> {
    const bus = await this.connected(deadline)
    return bus.call({ destination: DESTINATION, path: PATH, interface: MANAGER, ...call }, deadline)
  }

  private async connected(deadline: Deadline): Promise<Bus> {
    if (this.closed) throw new BusClosed('closed')
    if (this.live?.isOpen) return this.live
    // Callers at the same time share one attempt; its deadline is that of the first.
    this.current ??= this.dial(deadline).finally(() => {
      this.current = undefined
    })
    return this.current
  }

  private async dial(deadline: Deadline): Promise<Bus> {
    const bus = await Bus.connect(
      this.address,
      { onSignal: this.onSignal, onEnd: () => this.lost() },
      deadline,
    )
    try {
      await this.subscribe(bus, deadline)
    } catch (error) {
      bus.close()
      throw error
    }
    if (this.closed) {
      bus.close()
      throw new BusClosed('closed')
    }
    this.live = bus
    return bus
  }

  /** systemd sends its signals only to subscribers. */
  private async subscribe(bus: Bus, deadline: Deadline): Promise<void> {
    const rule = `type='signal',sender='${DESTINATION}',path='${PATH}',interface='${MANAGER}'`
    const daemon = 'org.freedesktop.DBus'
    const path = '/org/freedesktop/DBus'
    const match = {
      destination: daemon,
      path,
      interface: daemon,
      member: 'AddMatch',
      signature: 's',
      body: [rule],
    }
    await bus.call(match, deadline)
    await bus.call(
      { destination: DESTINATION, path: PATH, interface: MANAGER, member: 'Subscribe' },
      deadline,
    )
  }

  private lost(): void {
    this.live = undefined
    if (!this.closed && this.isNeeded()) this.scheduleRetry(FIRST_RETRY_MS)
  }

  private scheduleRetry(delayMs: number): void {
    clearTimeout(this.retry)
    this.retry = setTimeout(() => {
      this.connected({ timeoutMs: RECONNECT_TIMEOUT_MS }).then(
        () => this.onReconnected(),
        () => {
          if (!this.closed && this.isNeeded()) this.scheduleRetry(Math.min(delayMs * 2, LAST_RETRY_MS))
        },
      )
    }, delayMs)
    this.retry.unref()
  }

  /** A deadline for one operation that may take several calls. */
  deadline(timeoutMs: number, signal: AbortSignal | undefined): OperationDeadline {
    return new OperationDeadline(timeoutMs, signal, (what) =>
      unavailable(what, this.address, `no response within ${timeoutMs} ms`),
    )
  }

  close(): void {
    this.closed = true
    clearTimeout(this.retry)
    this.live?.close()
    this.live = undefined
  }
}

/** Time left of an operation, and a signal that ends with it. */
export class OperationDeadline implements Deadline {
  private readonly end: number
  readonly signal: AbortSignal

  constructor(
    timeoutMs: number,
    outer: AbortSignal | undefined,
    private readonly toError: (what: string) => Error,
  ) {
    this.end = performance.now() + timeoutMs
    const timeout = AbortSignal.timeout(timeoutMs)
    this.signal = outer === undefined ? timeout : AbortSignal.any([outer, timeout])
    this.outer = outer
  }

  private readonly outer: AbortSignal | undefined

  get timeoutMs(): number {
    return Math.max(1, this.end - performance.now())
  }

  /** The caller's own reason stays as it is; a timeout is reported as such. */
  explain(what: string, error: unknown): unknown {
    if (this.outer?.aborted) return this.outer.reason
    return this.signal.aborted || error instanceof BusDeadline ? this.toError(what) : error
  }
}
