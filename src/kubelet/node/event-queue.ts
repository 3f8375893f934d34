// Events of this node on their way to the API server: kept until it is reachable, in order, in a bounded queue. A
// refusal that no retry can change drops that one event.
import { asKeelsonError } from '../../core/errors.js'
import { doubling, pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeCalls, NodeEvent } from '../../ports/kube-calls.js'
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

interface EventQueueOptions {
  readonly api: Pick<KubeCalls, 'createEvent'>
  readonly clock: Clock
  readonly log: Log
  readonly nodeName: string
  /** The uid of the Node once it is known, for events about it; undefined: it stays unknown. Default: the node's name. */
  readonly nodeUid?: () => Promise<string | undefined>
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
  nodeUid = async () => nodeName,
  signal,
}: EventQueueOptions): EventQueue {
  const waiting: NodeEvent[] = []
  let isSending = false
  let sent = Promise.resolve()

  /** At the start the Node may not be registered yet. */
  const withNode = async (event: NodeEvent): Promise<NodeEvent> =>
    event.involved.kind === 'Node'
      ? { ...event, involved: { ...event.involved, uid: (await nodeUid()) ?? '' } }
      : event

  const sendAll = async (): Promise<void> => {
    let failures = 0
    for (let next = waiting[0]; next !== undefined && !signal.aborted; next = waiting[0]) {
      try {
        await api.createEvent(await withNode(next), signal)
        waiting.shift()
        failures = 0
      } catch (e) {
        if (signal.aborted) return
        const error = asKeelsonError(e)
        if (isFinal(error.details.status)) {
          log.warn('the API server refused an event; dropping it', { reason: next.reason, error })
          waiting.shift()
          continue
        }
        failures += 1
        const waitMs = waitAfter(failures)
        log.debug('failed to send an event; retrying', { reason: next.reason, error, waitMs })
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
        log.warn('event queue is full; dropping the oldest event')
      }
      const nowNanos = clock.nowNanos()
      const nowMs = Number(nowNanos / 1_000_000n)
      const { involved, ...said } = event
      waiting.push({
        ...said,
        // Upstream's shape of a name: the object and a time that no other event has.
        name: `${involved?.name ?? nodeName}.${(nowNanos + BigInt(waiting.length)).toString(16)}`,
        namespace: involved?.namespace ?? 'default',
        involved: involved ?? { kind: 'Node', name: nodeName, uid: '' },
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
