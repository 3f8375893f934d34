// Events of this node on their way to the API server: kept until it is reachable, in order, in a bounded queue. A
// refusal that asking again cannot mend drops that one event.
import { asKeelsonError } from '../../core/errors.js'
import { doubling, pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi, NodeEvent } from '../../ports/kubeapi.js'
import type { Log } from '../../ports/log.js'

export interface NewEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Not given: the node. */
  readonly involved?: {
    readonly kind: string
    readonly namespace: string
    readonly name: string
    readonly uid: string
  }
}

export interface EventQueueOptions {
  readonly api: Pick<KubeApi, 'createEvent'>
  readonly clock: Clock
  readonly log: Log
  readonly nodeName: string
  /** Who says it. Default `kubelet`. */
  readonly component?: string
  readonly signal: AbortSignal
}

export interface EventQueue {
  record(event: NewEvent): void
  readonly waiting: number
  /** Resolves when nothing waits, or when the signal was aborted. */
  idle(): Promise<void>
}

const maxWaiting = 256
const waitAfter = doubling(1_000, 60_000)

export function createEventQueue({
  api,
  clock,
  log,
  nodeName,
  component = 'kubelet',
  signal,
}: EventQueueOptions): EventQueue {
  const waiting: NodeEvent[] = []
  let isSending = false
  let sent = Promise.resolve()

  const sendAll = async (): Promise<void> => {
    let failures = 0
    for (let next = waiting[0]; next !== undefined && !signal.aborted; next = waiting[0]) {
      try {
        await api.createEvent(next, signal)
        waiting.shift()
        failures = 0
      } catch (e) {
        if (signal.aborted) return
        const error = asKeelsonError(e)
        if (isFinal(error.details.status)) {
          log.warn('the API server refused an event; it is dropped', { reason: next.reason, error })
          waiting.shift()
          continue
        }
        failures += 1
        const waitMs = waitAfter(failures)
        log.debug('an event waits for the API server', { reason: next.reason, error, waitMs })
        await pause(clock, waitMs, signal)
      }
    }
  }
  const send = async (): Promise<void> => {
    // The last look and the flag are one step: an event recorded in between would wait for ever.
    do await sendAll()
    while (waiting.length > 0 && !signal.aborted)
    isSending = false
  }
  return {
    get waiting() {
      return waiting.length
    },
    record(event) {
      if (waiting.length >= maxWaiting) {
        // The one under way stays: it may already be at the server.
        waiting.splice(1, 1)
        log.warn('too many events wait for the API server; the oldest is dropped')
      }
      const nowNanos = clock.nowNanos()
      const nowMs = Number(nowNanos / 1_000_000n)
      const { involved, ...said } = event
      waiting.push({
        ...said,
        // Upstream's shape of a name: the object and a time that no other event has.
        name: `${involved?.name ?? nodeName}.${(nowNanos + BigInt(waiting.length)).toString(16)}`,
        namespace: involved?.namespace ?? 'default',
        involved: involved ?? { kind: 'Node', name: nodeName, uid: nodeName },
        component,
        host: nodeName,
        firstMs: nowMs,
        lastMs: nowMs,
        count: 1,
      })
      if (!isSending) {
        isSending = true
        sent = send()
      }
    },
    async idle() {
      while (isSending) await sent
    },
  }
}

/** 4xx other than "too many" and "timed out". */
const isFinal = (status: unknown): boolean =>
  typeof status === 'number' && status >= 400 && status < 500 && status !== 429 && status !== 408
