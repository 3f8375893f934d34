// What ends a call before its answer does: its deadline, the caller's signal, or the end of the client.
import { setMaxListeners } from 'node:events'
import { CallFailure } from './call-failure.js'

/** setTimeout's own bound; beyond it a timer is due at once. */
const longestTimerMs = 2 ** 31 - 1

/** From the beginning of a call to its end; until then its signal says why it has to stop, as a CallFailure. */
export class CallLife {
  private readonly stop = new AbortController()
  private readonly timer: NodeJS.Timeout | undefined

  constructor(
    private readonly inProgress: Set<CallLife>,
    readonly timeoutMs: number,
    private readonly from: AbortSignal | undefined,
  ) {
    if (timeoutMs !== Number.POSITIVE_INFINITY)
      this.timer = setTimeout(this.pass, Math.min(timeoutMs, longestTimerMs))
    if (from !== undefined) {
      // One shutdown signal may end hundreds of calls, so Node's warning about many listeners is turned off.
      setMaxListeners(0, from)
      from.addEventListener('abort', this.cancel, { once: true })
    }
    inProgress.add(this)
  }

  get signal(): AbortSignal {
    return this.stop.signal
  }

  readonly cancel = (): void => this.stop.abort(new CallFailure('cancelled', 'cancelled by the caller'))

  private readonly pass = (): void => this.stop.abort(new CallFailure('deadline', 'deadline exceeded'))

  end(): void {
    clearTimeout(this.timer)
    this.from?.removeEventListener('abort', this.cancel)
    this.inProgress.delete(this)
  }
}
