// Events of this node on their way to the API server: correlated (decide/correlate.ts), kept until it is reachable, in order,
// in a bounded queue, no faster than the configured rate. A refusal that no retry can change drops that one event.
import { asKeelsonError } from '../../core/errors.js'
import { doubling, pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeCalls, NodeEvent } from '../../ports/kube-calls.js'
import type { Log } from '../../ports/log.js'
import { EventCorrelator, type InvolvedObject } from './decide/correlate.js'
import { type BucketRate, type TokenBucket, takeToken } from './decide/token-bucket.js'

export interface NewEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly annotations?: Readonly<Record<string, string>>
  /** Not given: the node. */
  readonly involved?: InvolvedObject
}

interface EventQueueOptions {
  readonly api: Pick<KubeCalls, 'createEvent' | 'patchEvent'>
  readonly clock: Clock
  readonly log: Log
  readonly nodeName: string
  /** The uid of the Node once it is known, for events about it; undefined: it stays unknown. Default: the node's name. */
  readonly nodeUid?: () => Promise<string | undefined>
  /** Who says it. Default `kubelet`. */
  readonly component?: string
  /** eventRecordQPS and eventBurst; undefined: no limit. */
  readonly rate?: BucketRate | undefined
  readonly signal: AbortSignal
}

export interface EventQueue {
  record(event: NewEvent): void
  readonly waiting: number
  /** Resolves when nothing waits, or when the signal was aborted. */
  idle(): Promise<void>
}

/** With `isNew` the Event object has to be created; otherwise its count is raised. */
interface Waiting {
  readonly event: NodeEvent
  readonly isNew: boolean
}

const maxWaiting = 1000
const waitAfter = doubling(1_000, 60_000)

export function createEventQueue({
  api,
  clock,
  log,
  nodeName,
  component = 'kubelet',
  nodeUid = async () => nodeName,
  rate,
  signal,
}: EventQueueOptions): EventQueue {
  const waiting: Waiting[] = []
  const correlator = new EventCorrelator()
  let lastNanos = 0n
  let bucket: TokenBucket | undefined
  let isSending = false
  let sent = Promise.resolve()

  /** At the start the Node may not be registered yet. */
  const withNode = async (event: NodeEvent): Promise<NodeEvent> =>
    event.involved.kind === 'Node'
      ? { ...event, involved: { ...event.involved, uid: (await nodeUid()) ?? '' } }
      : event

  const sendOne = async ({ event, isNew }: Waiting): Promise<void> => {
    const whole = await withNode(event)
    // An Event lives for an hour: the one to count on may be gone.
    if (!isNew && (await api.patchEvent(whole, signal))) return
    await api.createEvent(whole, signal)
  }
  const waitForRate = async (): Promise<void> => {
    for (let waitMs = rate === undefined ? 0 : 1; rate !== undefined && waitMs > 0 && !signal.aborted; ) {
      const taken = takeToken(bucket, rate, Number(clock.monotonicNanos() / 1_000_000n))
      bucket = taken.bucket
      waitMs = taken.waitMs
      if (waitMs > 0) await pause(clock, waitMs, signal)
    }
  }
  const sendAll = async (): Promise<void> => {
    let failures = 0
    while (waiting.length > 0 && !signal.aborted) {
      await waitForRate()
      const [next] = waiting
      if (next === undefined || signal.aborted) return
      try {
        await sendOne(next)
        waiting.shift()
        failures = 0
      } catch (e) {
        if (signal.aborted) return
        const error = asKeelsonError(e)
        const { reason } = next.event
        if (isFinal(error.details.status)) {
          log.warn('the API server refused an event; dropping it', { reason, error })
          waiting.shift()
          continue
        }
        failures += 1
        const waitMs = waitAfter(failures)
        log.debug('failed to send an event; retrying', { reason, error, waitMs })
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
  /** A higher count of an event that still waits replaces it. The first of the queue may already be at the server. */
  const enqueue = (event: NodeEvent): void => {
    const at = waiting.findIndex((other, index) => index > 0 && other.event.name === event.name)
    const before = at < 0 ? undefined : waiting[at]
    if (before !== undefined) {
      waiting[at] = { event, isNew: before.isNew }
      return
    }
    if (waiting.length >= maxWaiting) {
      waiting.splice(1, 1)
      log.warn('event queue is full; dropping the oldest event')
    }
    waiting.push({ event, isNew: event.count === 1 })
  }
  return {
    get waiting() {
      return waiting.length
    },
    record(given) {
      const now = clock.nowNanos()
      lastNanos = now > lastNanos ? now : lastNanos + 1n
      const involved = given.involved ?? { kind: 'Node', namespace: '', name: nodeName, uid: '' }
      const event = correlator.observe({ ...given, involved }, lastNanos)
      if (event === undefined) return
      enqueue({
        ...event,
        namespace: involved.namespace === '' ? 'default' : involved.namespace,
        component,
        host: nodeName,
        lastMs: Number(now / 1_000_000n),
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
